//! The book's page on losses is made from the list of losses, with a picture of each.

use std::fmt::Write;
use std::path::PathBuf;

use rivalry::loss::{LOSSES, LossConfig};
use rivalry_report::gradient_figure;
use serde_json::Value;

use crate::support::World;

const HEAD: &str = "# Losses

A loss sees the scores of a training pair, `f_i` of the positive item and `f_j` of each sampled negative, and says by how much each of them
should move. `--loss NAME` selects one, for every model that is trained by gradients; `--set loss.tau=0.1` sets a parameter. The
parameters, defaults and searched values are those that `rivalry list losses` prints. This page is generated from the same entries; a test
keeps it up to date.

The pictures show the gradient of a negative by its score, with the default settings, in a batch of two pairs with negatives evenly spread
between -1 and 1: one pair whose positive stands amid its negatives (0.2), and one whose positive is above nearly all of them (0.8). The
unit is the mean over both pairs. A steep curve means that the loss learns from hard negatives and ignores easy ones; two curves far apart
mean that it learns from contested pairs and ignores those that are right already. For most softmax losses the curves coincide: the score of the
positive does not decide which negatives are pushed, and here all negatives compete alike.

How the losses compare on data is in [models](models.md#the-default-loss) and [reproduction](reproduction/index.md).
";

/// The folder of the page. `RIVALRY_WRITE_DOCS=1` writes page and pictures.
fn book() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/src")
}

fn file_name(loss: &str) -> String {
    format!("{}.svg", loss.replace('@', "-at-"))
}

fn page(losses: &Value) -> String {
    let mut page = HEAD.to_owned();
    for loss in losses.as_array().unwrap() {
        let text = |key: &str| loss[key].as_str().unwrap();
        let name = text("name");
        let (summary, formula, use_when) = (text("summary"), text("formula"), text("use_when"));
        let (first, rest) = summary.split_at(summary.chars().next().unwrap().len_utf8());
        write!(page, "\n## `{name}`\n\n{}{rest}.\n\n", first.to_uppercase()).unwrap();
        write!(page, "```text\n{formula}\n```\n\nUse it {use_when}.\n\n").unwrap();
        write!(page, "![Gradient of {name} by the score of the negative](losses/{})\n\n", file_name(name))
            .unwrap();
        page += "| setting | default | range | searched | |\n|---|---|---|---|---|\n";
        for parameter in loss["parameters"].as_array().unwrap() {
            let text = |key: &str| match &parameter[key] {
                Value::String(text) => text.clone(),
                Value::Array(values) => values.iter().map(Value::to_string).collect::<Vec<_>>().join(", "),
                Value::Null => String::new(),
                other => other.to_string(),
            };
            let row =
                [format!("`{}`", text("key")), text("default"), text("range"), text("grid"), text("summary")];
            writeln!(page, "| {} |", row.map(|cell| cell.replace('|', "\\|")).join(" | ")).unwrap();
        }
        writeln!(page, "\nEmbeddings start {}.", text("initialisation")).unwrap();
    }
    page
}

#[test]
fn the_page_of_losses_and_its_pictures_are_up_to_date() {
    let page = page(&World::new().json(&["list", "losses", "--json"]));
    let pictures = LOSSES.iter().map(|entry| {
        let figure = gradient_figure(&LossConfig::named("loss", LOSSES, entry.name));
        (format!("losses/{}", file_name(entry.name)), figure.svg() + "\n")
    });
    for (name, content) in pictures.chain([("losses.md".to_owned(), page)]) {
        let file = book().join(&name);
        if std::env::var_os("RIVALRY_WRITE_DOCS").is_some() {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, &content).unwrap();
        }
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            written == content,
            "docs/src/{name} is out of date: run this test with RIVALRY_WRITE_DOCS=1"
        );
    }
}
