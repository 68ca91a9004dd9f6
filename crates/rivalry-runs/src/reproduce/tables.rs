//! Reproduced and published results as Markdown tables.

use std::fmt::Write;

use super::plan::Plan;
use super::results::CellResult;
use rivalry::loss::LOSSES;
use rivalry::params::{Param, shown};

use crate::stats::MeanStd;

const RECALL: &str = "Recall@20";
const NDCG: &str = "NDCG@20";

/// All tables of these results.
pub fn markdown(measured: &[CellResult], plan: &Plan) -> String {
    let mut text = String::new();
    let clean: Vec<&CellResult> = measured.iter().filter(|cell| cell.noise() == 0.0).collect();
    for (data, backbone) in groups(&clean) {
        let cells: Vec<&CellResult> = clean
            .iter()
            .filter(|cell| cell.key.data == data && cell.key.model == backbone)
            .copied()
            .collect();
        let _ = writeln!(text, "## {data}, {backbone}\n");
        if data.ends_with("-popularity") {
            shifted(&mut text, &cells);
        } else {
            performance(&mut text, &cells);
            against_sl(
                &mut text,
                "Ablation",
                &cells,
                &["dsl-ca", "dsl-kappa", "dsl"],
                &[("NDCG@20", |cell| &cell.reference)],
            );
            against_sl(
                &mut text,
                "Popular and rare items (NDCG@20)",
                &cells,
                &["dsl-ca", "dsl"],
                &[("head", |cell| &cell.head), ("tail", |cell| &cell.tail)],
            );
        }
    }
    noise(&mut text, measured, "False pairs in the training part", |cell| {
        (cell.false_positives, cell.false_negatives)
    });
    noise(&mut text, measured, "Training items of the user among the negatives", |cell| {
        (cell.false_negatives, cell.false_positives)
    });
    if !plan.left_out.is_empty() {
        text += "## Left out\n\nTheir settings are neither published nor tuned yet. These commands search for them:\n\n";
        for cell in &plan.left_out {
            let _ = writeln!(
                text,
                "- `rivalry sweep --data {} --model {} --loss {} --halving`",
                cell.data, cell.model, cell.loss
            );
        }
        text.push('\n');
    }
    text
}

impl CellResult {
    /// The name of the loss.
    pub fn loss_name(&self) -> &str {
        self.loss.get("type").and_then(|name| name.as_str()).unwrap_or_default()
    }

    /// The total noise level.
    fn noise(&self) -> f64 {
        self.false_positives + self.false_negatives
    }

    /// The tuned hyperparameters, and others that differ from their defaults.
    fn settings(&self) -> String {
        let entry = LOSSES.iter().find(|entry| entry.name == self.loss_name());
        let params = entry.map_or(&[][..], |entry| entry.params);
        let own = self.loss.iter().filter(|(key, _)| *key != "type").filter_map(|(key, value)| {
            let value = shown(value);
            let usual = |param: &&Param| param.grid.is_empty() && param.default.to_string() == value;
            let param = params.iter().find(|param| param.name == key);
            param.filter(usual).is_none().then(|| format!("{key} {value}"))
        });
        let decay = (self.weight_decay > 0.0).then(|| format!("wd {}", self.weight_decay));
        std::iter::once(format!("lr {}", self.lr)).chain(decay).chain(own).collect::<Vec<_>>().join(", ")
    }
}

/// Data sets and backbones, in the order they come.
fn groups(cells: &[&CellResult]) -> Vec<(String, String)> {
    let mut groups: Vec<(String, String)> = Vec::new();
    for cell in cells {
        let group = (cell.key.data.clone(), cell.key.model.clone());
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups.sort();
    groups
}

fn performance(text: &mut String, cells: &[&CellResult]) {
    *text += "| loss | settings | seeds | epoch | Recall@20 | NDCG@20 | published | NDCG@20 difference | default protocol |\n\
              |---|---|---:|---|---:|---:|---:|---:|---:|\n";
    for cell in cells {
        let _ = writeln!(
            text,
            "| `{}`{} | {} | {} | {} | {} | {} | {} | {} | {} / {} |",
            cell.loss_name(),
            if cell.tuned { " *" } else { "" },
            cell.settings(),
            cell.seeds,
            epochs(cell),
            figure(cell.reference.get(RECALL)),
            figure(cell.reference.get(NDCG)),
            published(cell),
            difference(cell.reference.get(NDCG), cell.published.get(NDCG)),
            figure(cell.ours.get(RECALL)),
            figure(cell.ours.get(NDCG)),
        );
    }
    *text += "\nRecall@20 and NDCG@20 in the published protocol (training items masked, mean over all users), beside the \
              published figures; default protocol: validation items masked too, mean over the users with test items.\n";
    if cells.iter().any(|cell| cell.tuned) {
        *text += "\\* Settings tuned by our own sweeps on the validation part: none are published.\n";
    }
    text.push('\n');
}

fn shifted(text: &mut String, cells: &[&CellResult]) {
    *text += "| loss | settings | seeds | epoch picked on test | NDCG@20 there | last epoch's NDCG@20 | published | difference |\n\
              |---|---|---:|---|---:|---:|---:|---:|\n";
    for cell in cells {
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {} | {} | {} |",
            cell.loss_name(),
            cell.settings(),
            cell.seeds,
            epochs(cell),
            figure(cell.reference.get(NDCG)),
            figure(cell.last.get(NDCG)),
            published(cell),
            difference(cell.reference.get(NDCG), cell.published.get(NDCG)),
        );
    }
    *text += "\nThere is no validation part. The published reference picks the epoch on the test part itself, which is \
              optimistic; the last epoch is not selected on it. Settings are those of the data without the shift.\n\n";
}

type Column = (&'static str, fn(&CellResult) -> &std::collections::BTreeMap<String, MeanStd>);

/// Losses relative to SL.
fn against_sl(text: &mut String, title: &str, cells: &[&CellResult], losses: &[&str], columns: &[Column]) {
    let find = |name: &str| cells.iter().find(|cell| cell.loss_name() == name);
    let Some(sl) = find("sl") else { return };
    let rows: Vec<_> = losses.iter().filter_map(|name| find(name)).collect();
    if rows.is_empty() || columns.iter().any(|(_, of)| !of(sl).contains_key(NDCG)) {
        return;
    }
    let _ = writeln!(text, "{title}:\n");
    let names = columns.iter().map(|(name, _)| format!(" {name} | against SL |")).collect::<String>();
    let _ = writeln!(text, "| loss |{names}\n|---|{}", "---:|---:|".repeat(columns.len()));
    for cell in std::iter::once(sl).chain(rows) {
        let _ = write!(text, "| `{}` |", cell.loss_name());
        for (_, of) in columns {
            let (own, base) = (of(cell).get(NDCG), of(sl).get(NDCG).map(|summary| summary.mean));
            let _ = write!(text, " {} | {} |", figure(own), difference(own, base.as_ref()));
        }
        text.push('\n');
    }
    text.push('\n');
}

/// NDCG@20 by level of noise, and its relative change. `level` gives the noise of the kind in question and of the other.
fn noise(text: &mut String, measured: &[CellResult], title: &str, level: fn(&CellResult) -> (f64, f64)) {
    let cells: Vec<&CellResult> = measured.iter().filter(|cell| level(cell).1 == 0.0).collect();
    let mut levels: Vec<f64> = cells.iter().map(|cell| level(cell).0).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    if levels.iter().all(|level| *level == 0.0) {
        return;
    }
    let _ = writeln!(text, "## {title} (NDCG@20)\n");
    let head = levels.iter().map(|level| format!(" {level} |")).collect::<String>();
    let _ = writeln!(text, "| data | model | loss |{head}\n|---|---|---|{}", "---:|".repeat(levels.len()));
    let clean = cells.iter().filter(|cell| level(cell).0 == 0.0);
    for base in clean {
        let same = |cell: &&&CellResult| {
            [&cell.key.data, &cell.key.model] == [&base.key.data, &base.key.model]
                && cell.loss_name() == base.loss_name()
        };
        let row: Vec<&&CellResult> = cells.iter().filter(same).collect();
        if row.len() < 2 {
            continue;
        }
        let _ = write!(text, "| {} | {} | `{}` |", base.key.data, base.key.model, base.loss_name());
        for wanted in &levels {
            let cell = row.iter().find(|cell| level(cell).0 == *wanted);
            let own = cell.and_then(|cell| cell.reference.get(NDCG));
            let change = difference(own, base.reference.get(NDCG).map(|summary| summary.mean).as_ref());
            let shown = if *wanted == 0.0 { figure(own) } else { format!("{} ({change})", figure(own)) };
            let _ = write!(text, " {shown} |");
        }
        text.push('\n');
    }
    text.push('\n');
}

fn epochs(cell: &CellResult) -> String {
    cell.epochs.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

fn figure(value: Option<&MeanStd>) -> String {
    value.map_or_else(|| "–".to_owned(), MeanStd::to_string)
}

fn published(cell: &CellResult) -> String {
    match (cell.published.get(RECALL), cell.published.get(NDCG)) {
        (Some(recall), Some(ndcg)) => format!("{recall:.4} / {ndcg:.4}"),
        _ => "–".to_owned(),
    }
}

fn difference(measured: Option<&MeanStd>, base: Option<&f64>) -> String {
    match (measured, base) {
        (Some(measured), Some(base)) if *base > 0.0 => {
            format!("{:+.1} %", (measured.mean / base - 1.0) * 100.0)
        }
        _ => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_what_is_searched_and_what_is_not_as_usual() {
        let mut cell = CellResult {
            key: Default::default(),
            loss: "type = 'cap'\ntau = 0.2\nalpha = 3.0\npull = 0.75\nslate = 20".parse().unwrap(),
            lr: 0.1,
            weight_decay: 0.0,
            tuned: true,
            false_positives: 0.0,
            false_negatives: 0.0,
            seeds: 1,
            epochs: Vec::new(),
            reference: Default::default(),
            ours: Default::default(),
            last: Default::default(),
            head: Default::default(),
            tail: Default::default(),
            published: Default::default(),
        };
        assert_eq!(cell.settings(), "lr 0.1, alpha 3, pull 0.75, tau 0.2");
        cell.loss["slate"] = 100.into();
        cell.weight_decay = 1e-4;
        assert_eq!(cell.settings(), "lr 0.1, wd 0.0001, alpha 3, pull 0.75, slate 100, tau 0.2");
    }
}
