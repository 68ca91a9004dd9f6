//! Config values by dotted key, to find out in what runs differ.

use rivalry::config::Config;
use rivalry::data::AppliedSplit;
use rivalry_runs::selection::is_hyperparameter;
use rivalry_runs::settings::{Settings, distinctive};

use crate::draw::number;

/// The share of false positives in the training set.
pub(crate) const NOISE: &str = "data.prepare.noise";

/// Keys that make the task itself harder. They are never treated as a choice of setting.
pub(crate) const CONDITIONS: [&str; 2] = [NOISE, "sampler.false_negatives"];

/// All values of a config by dotted key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunSettings(Settings);

impl RunSettings {
    pub(crate) fn of(config: &Config) -> Self {
        Self(Settings::of(config))
    }

    /// The number at a key, if there is one.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        self.0.number(key)
    }

    /// The level of a condition; 0 for a config without the key.
    pub(crate) fn level(&self, condition: &str) -> f64 {
        self.number(condition).unwrap_or(0.0)
    }

    /// The data source and its preparation, without noise.
    pub(crate) fn data(&self) -> String {
        let is_data = |key: &str| key.starts_with("data.") && !CONDITIONS.contains(&key);
        self.0.clone().filter(is_data).to_string()
    }

    /// The same without how it is split.
    pub(crate) fn source(&self) -> String {
        let is_source = |key: &str| key.starts_with("data.") && !is_split(key) && !CONDITIONS.contains(&key);
        self.0.clone().filter(is_source).to_string()
    }

    /// The named settings, formatted for people: `loss.tau 0.2`.
    pub(crate) fn show<'a>(&self, keys: impl IntoIterator<Item = &'a String>) -> String {
        let shown = keys.into_iter().filter_map(|key| Some(format!("{key} {}", self.text(key)?)));
        shown.collect::<Vec<_>>().join(", ")
    }

    /// The value at a key, formatted for people.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.0.number(key).map(number).or_else(|| self.0.text(key))
    }

    /// The parameters of the loss.
    pub(crate) fn loss_keys(&self) -> Vec<String> {
        self.0.keys().filter(|key| key.starts_with("loss.") && *key != "loss.type").cloned().collect()
    }

    /// Whether there is a value at a key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.get(key).is_some()
    }

    /// Sets a number.
    #[cfg(test)]
    pub(crate) fn set(&mut self, key: &str, number: f64) {
        self.0.set(key, number);
    }

    /// The settings of filters and splits, formatted for people; of the split what was applied, where it is known.
    pub(crate) fn preparation(&self, split: Option<&AppliedSplit>) -> String {
        let keys = self.0.keys().filter(|key| key.starts_with("data.prepare."));
        let keys = keys.filter(|key| !CONDITIONS.contains(&key.as_str()));
        let keys = keys.filter(|key| split.is_none() || !is_split(key) && *key != "data.prepare.seed");
        let settings = self.show(keys).replace("data.prepare.", "");
        split.iter().map(|split| format!("split {split}")).chain([settings]).collect::<Vec<_>>().join("; ")
    }
}

fn is_split(key: &str) -> bool {
    ["data.prepare.split.", "data.prepare.validation."].iter().any(|section| key.starts_with(section))
}

/// The hyperparameters in which these settings differ, those of the loss first.
pub(crate) fn varied<'a>(all: impl IntoIterator<Item = &'a RunSettings>) -> Vec<String> {
    let mut varied = differing(all);
    varied.retain(|key| is_hyperparameter(key));
    varied
}

/// Everything in which these settings differ but model, loss, data source and seed; the keys of the loss first.
pub(crate) fn differing<'a>(all: impl IntoIterator<Item = &'a RunSettings>) -> Vec<String> {
    let mut keys = distinctive(all.into_iter().map(|settings| &settings.0));
    keys.retain(|key| !["data.source", "train.seed"].contains(&&**key));
    keys.sort_by_key(|key| !key.starts_with("loss."));
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> RunSettings {
        RunSettings::of(&Config::from_layers(&[text.parse().unwrap()]).unwrap())
    }

    #[test]
    fn hyperparameters_are_shown_where_they_differ() {
        let one = settings("loss = { type = 'sl', tau = 0.1 }");
        let seed = settings("loss = { type = 'sl', tau = 0.1 }\ntrain.seed = 3\neval.mask = 'train'");
        let other = settings("loss = { type = 'sl', tau = 0.2 }");
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
