//! Config values by dotted key, to find out in what runs differ.

use std::collections::{BTreeMap, BTreeSet};

use rivalry::config::Config;
use toml::Value;

use crate::draw::number;

/// Keys that make the task itself harder. They are never treated as a choice of setting.
pub(crate) const CONDITIONS: [&str; 2] = ["data.prepare.noise", "sampler.false_negatives"];

/// All values of a config by dotted key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings(BTreeMap<String, Value>);

impl Settings {
    pub(crate) fn of(config: &Config) -> Self {
        let mut all = BTreeMap::new();
        flatten("", config.to_toml().parse().unwrap_or_default(), &mut all);
        Self(all)
    }

    /// The number at a key, if there is one.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        as_number(self.0.get(key)?)
    }

    /// The level of a condition; 0 for a config without the key.
    pub(crate) fn level(&self, condition: &str) -> f64 {
        self.number(condition).unwrap_or(0.0)
    }

    /// The data source and its preparation, without noise.
    pub(crate) fn data(&self) -> String {
        self.text(|key| key.starts_with("data.") && !CONDITIONS.contains(&key))
    }

    /// The values that a search may choose: neither task nor protocol nor seed.
    pub(crate) fn setting(&self) -> String {
        self.text(is_choice)
    }

    fn text(&self, wanted: impl Fn(&str) -> bool) -> String {
        let wanted = self.0.iter().filter(|(key, _)| wanted(key));
        wanted.map(|(key, value)| format!("{key} = {value}\n")).collect()
    }

    /// The values of these keys as text: `loss.tau 0.2`.
    pub(crate) fn show<'a>(&self, keys: impl IntoIterator<Item = &'a String>) -> String {
        let shown =
            keys.into_iter().filter_map(|key| Some(format!("{key} {}", value_text(self.0.get(key)?))));
        shown.collect::<Vec<_>>().join(", ")
    }

    /// Sets a number.
    #[cfg(test)]
    pub(crate) fn set(&mut self, key: &str, number: f64) {
        self.0.insert(key.to_owned(), number.into());
    }

    /// How the data are filtered and split, as text.
    pub(crate) fn preparation(&self) -> String {
        let keys = self.0.keys().filter(|key| key.starts_with("data.prepare."));
        self.show(keys.filter(|key| !CONDITIONS.contains(&key.as_str()))).replace("data.prepare.", "")
    }
}

fn is_choice(key: &str) -> bool {
    let fixed = ["train.seed", "train.select", "loss.type", "model.type"];
    let task = key.starts_with("data.") || key.starts_with("eval.") || CONDITIONS.contains(&key);
    !task && !fixed.contains(&key)
}

/// The keys that a search may choose and in which these differ, those of the loss first.
pub(crate) fn varied<'a>(all: impl IntoIterator<Item = &'a Settings>) -> Vec<String> {
    let all: Vec<&Settings> = all.into_iter().collect();
    let keys: BTreeSet<&String> =
        all.iter().flat_map(|settings| settings.0.keys()).filter(|key| is_choice(key)).collect();
    let differs = |key: &&String| all.windows(2).any(|two| two[0].0.get(*key) != two[1].0.get(*key));
    let mut varied: Vec<String> = keys.into_iter().filter(differs).cloned().collect();
    varied.sort_by_key(|key| !key.starts_with("loss."));
    varied
}

fn flatten(prefix: &str, table: toml::Table, all: &mut BTreeMap<String, Value>) {
    for (key, value) in table {
        let key = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
        match value {
            Value::Table(inner) => flatten(&key, inner, all),
            value => {
                all.insert(key, value);
            }
        }
    }
}

fn as_number(value: &Value) -> Option<f64> {
    value.as_float().or(value.as_integer().map(|n| n as f64))
}

/// A value without quotes, numbers as short as possible.
pub(crate) fn value_text(value: &Value) -> String {
    match (value, as_number(value)) {
        (_, Some(value)) => number(value),
        (Value::String(text), _) => text.clone(),
        (other, _) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Settings {
        Settings::of(&Config::from_layers(&[text.parse().unwrap()]).unwrap())
    }

    #[test]
    fn a_seed_or_a_protocol_is_no_other_setting_but_a_temperature_is() {
        let one = settings("loss = { type = 'sl', tau = 0.1 }");
        let seed = settings("loss = { type = 'sl', tau = 0.1 }\ntrain.seed = 3\neval.mask = 'train'");
        let other = settings("loss = { type = 'sl', tau = 0.2 }");
        assert_eq!(one.setting(), seed.setting());
        assert_ne!(one.setting(), other.setting());
        assert_eq!(varied([&one, &seed, &other]), ["loss.tau"]);
        assert_eq!(other.show(&varied([&one, &other])), "loss.tau 0.2");
        assert_eq!(other.number("loss.tau"), Some(0.2));
    }

    #[test]
    fn the_keys_of_the_loss_come_first() {
        let one = settings("optim.lr = 0.1\nloss.alpha = 1");
        let other = settings("optim.lr = 0.01\nloss.alpha = 2");
        assert_eq!(varied([&one, &other]), ["loss.alpha", "optim.lr"]);
    }
}
