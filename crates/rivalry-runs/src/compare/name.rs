//! What a method is called: its backbone, its loss, and the settings in which it differs from the others.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use rivalry::params::shown;

/// What names a method in the first place.
const TYPES: [&str; 2] = ["model.type", "loss.type"];

/// Settings by their whole keys, such as `loss.tau`.
pub(super) type Settings = BTreeMap<String, String>;

/// The settings in a part of a config, each under its whole key.
pub(super) fn flatten(key: &str, part: &impl Serialize) -> Settings {
    let mut settings = Settings::new();
    if let Ok(value) = toml::Value::try_from(part) {
        collect(key, &value, &mut settings);
    }
    settings
}

fn collect(key: &str, value: &toml::Value, settings: &mut Settings) {
    let toml::Value::Table(table) = value else {
        settings.insert(key.to_owned(), shown(value));
        return;
    };
    for (name, value) in table {
        let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
        collect(&key, value, settings);
    }
}

/// The name of each method, given all its settings. Methods that differ in a setting have different names.
pub(super) fn names(methods: &[Settings]) -> Vec<String> {
    let keys: BTreeSet<&String> = methods.iter().flat_map(Settings::keys).collect();
    let telling = keys.into_iter().filter(|key| tells_apart(key, methods));
    let telling: Vec<&String> = telling.collect();
    let name = |settings: &Settings| {
        let types = TYPES.iter().filter_map(|key| settings.get(*key).cloned());
        let shown = telling.iter().filter_map(|key| Some(format!("{key}={}", settings.get(*key)?)));
        types.chain(shown).collect::<Vec<_>>().join(" ")
    };
    methods.iter().map(name).collect()
}

/// Whether a setting tells some of the methods apart that their types don't. Of the parameters of a loss only those
/// count that have different values: that another loss has no such parameter is said by its name.
fn tells_apart(key: &str, methods: &[Settings]) -> bool {
    if TYPES.contains(&key) {
        return false;
    }
    let of_a_type =
        ["model.", "loss.", "sampler.", "optim.", "train."].iter().any(|section| key.starts_with(section));
    let values: BTreeSet<Option<&String>> = methods
        .iter()
        .map(|settings| settings.get(key))
        .filter(|value| value.is_some() || !of_a_type)
        .collect();
    values.len() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(configs: &[&str]) -> Vec<String> {
        let settings = configs.iter().map(|text| flatten("", &text.parse::<toml::Table>().unwrap()));
        names(&settings.collect::<Vec<_>>())
    }

    #[test]
    fn a_name_has_what_differs_and_nothing_else() {
        let sl = "model.type = 'mf'\nloss = { type = 'sl', tau = 0.2 }\ntrain.epochs = 5";
        let dsl = "model.type = 'mf'\nloss = { type = 'dsl', tau = 0.2, alpha = 1.0 }\ntrain.epochs = 5";
        assert_eq!(named(&[sl, dsl]), ["mf sl", "mf dsl"]);
        let other = dsl.replace("0.2", "0.1").replace("5", "6");
        assert_eq!(
            named(&[sl, &other]),
            ["mf sl loss.tau=0.2 train.epochs=5", "mf dsl loss.tau=0.1 train.epochs=6"]
        );
        let stronger = dsl.replace("1.0", "3.0");
        assert_eq!(named(&[sl, dsl, &stronger]), ["mf sl", "mf dsl loss.alpha=1", "mf dsl loss.alpha=3"]);
    }

    #[test]
    fn a_setting_that_only_one_has_tells_them_apart() {
        let plain = "model.type = 'mf'\nloss.type = 'sl'\ntrain.epochs = 5";
        let patient = format!("{plain}\ntrain.patience = 3");
        assert_eq!(named(&[plain, &patient]), ["mf sl", "mf sl train.patience=3"]);
    }
}
