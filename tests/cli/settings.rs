//! The reference of settings: `rivalry list settings`, `rivalry list presets` and `docs/src/settings.md`.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use crate::support::{World, holds};

/// The page that is made from the list. `RIVALRY_WRITE_DOCS=1` writes it.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/settings.md");

const HEAD: &str = "# Settings

Every setting of a config, as `rivalry list settings` shows it. Set one with `--set KEY=VALUE`, with its flag if it has one, or
in a TOML file (`--config`). This page is generated; a test keeps it up to date.

Score, learning rate, weight decay and the number of negatives are by default those that suit the loss. A training stops after
ten evaluations without an improvement on the validation set (`train.patience`), evaluated every five epochs; `--patience none`
runs all epochs, as presets and `rivalry reproduce` do.

| key | default | values | flag | what it is |
|---|---|---|---|---|
";

fn page(settings: &Value) -> String {
    let mut page = HEAD.to_owned();
    for setting in settings.as_array().unwrap() {
        let text = |key: &str| setting[key].as_str().unwrap_or_default().to_owned();
        let list = |key: &str| -> Vec<&str> {
            setting[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
        };
        let code = |text: &str| if text.is_empty() { String::new() } else { format!("`{text}`") };
        let mut default = code(&text("default"));
        for (loss, other) in setting["default_by_loss"].as_object().into_iter().flatten() {
            write!(default, ", {loss} {}", code(other.as_str().unwrap())).unwrap();
        }
        let flags: Vec<String> = list("flags").into_iter().map(code).collect();
        let of = match list("of").join(", ") {
            all if all.is_empty() => all,
            some => format!(" ({some})"),
        };
        let values = format!("{} {}", text("type"), text("range"));
        let row =
            [code(&text("key")), default, values.trim().to_owned(), flags.join(", "), text("doc") + &of];
        writeln!(page, "| {} |", row.map(|cell| cell.replace('|', "\\|")).join(" | ")).unwrap();
    }
    page
}

#[test]
fn the_page_of_settings_is_up_to_date() {
    let page = page(&World::new().json(&["list", "settings", "--json"]));
    if std::env::var_os("RIVALRY_WRITE_DOCS").is_some() {
        std::fs::write(Path::new(PAGE), &page).unwrap();
    }
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(written == page, "docs/src/settings.md is out of date: run this test with RIVALRY_WRITE_DOCS=1");
}

/// Every key of a complete config is in the reference, and every default is the one a config gets.
#[test]
fn the_reference_is_complete_and_its_defaults_are_true() {
    let settings = World::new().json(&["list", "settings", "--json"]);
    let listed = settings.as_array().unwrap();
    // Where no loss is chosen, the default one has settings of its own.
    let chosen = rivalry::config::setting_layer("loss.type=dsl-ca").unwrap();
    let config = rivalry::config::Config::from_layers(&[chosen]).unwrap();
    for (section, table) in &config.to_table() {
        for (name, value) in table.as_table().unwrap().iter().filter(|(_, value)| !value.is_table()) {
            let key = format!("{section}.{name}");
            let found = |setting: &&Value| {
                let of = setting["of"].as_array().unwrap();
                let own = [config.model.name(), config.loss_name().unwrap(), "uniform", "adam"];
                setting["key"] == *key
                    && (of.is_empty() || of.iter().any(|of| own.contains(&of.as_str().unwrap())))
            };
            let found = listed.iter().find(found).unwrap_or_else(|| panic!("{key} is not listed"));
            let default = found["default"].as_str().unwrap_or_default();
            assert_eq!(default, rivalry::params::shown(value), "{key}");
        }
    }
    assert!(listed.iter().all(|setting| !setting["doc"].as_str().unwrap().is_empty()), "all are documented");
}

#[test]
fn settings_presets_and_the_grids_of_losses_are_listed() {
    let world = World::new();
    let (settings, _) = world.ok(&["list", "settings"]);
    holds(
        &settings,
        &["train.patience  = 10  --patience", "optim.lr  = 0.1, 0.003 for bpr", "data.read.user  --user-col"],
    );
    let (presets, _) = world.ok(&["list", "presets"]);
    holds(
        &presets,
        &["paper/amazon2014-health/mf/sl ", "tau 0.25, lr 0.1", "tuned/amazon2014-health/mf/cap"],
    );
    assert!(!presets.contains("paper/amazon2014-health/mf/dsl "), "its settings are not published");
    let (losses, _) = world.ok(&["list", "losses"]);
    holds(&losses, &["searched: 0.05, 0.1, 0.15, 0.2, 0.3, 0.5; log-uniform", "= dot", "(Xavier)"]);
}
