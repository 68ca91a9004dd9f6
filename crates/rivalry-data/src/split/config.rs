//! Splits as settings, and the lists of them.

use serde::{Deserialize, Serialize};

use super::Rule;
use crate::error::{Result, unknown_name};

/// How the test set is chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Split {
    /// The sets given by the source, if there are any; otherwise `Random` with its defaults.
    Auto {},
    /// The sets given by the source.
    Given {},
    /// No test set: everything is for training, as for a model in production.
    None {},
    /// `⌊test·n⌋` of each user's `n` items at random, but at least one if `n ≥ 2`.
    Random {
        /// The fraction of each user's items to hold out.
        #[serde(default = "fifth")]
        test: f64,
    },
    /// Each user's last `n` items; at least one stays in training.
    LeaveLast {
        /// The number of items per user.
        #[serde(default = "one")]
        n: u32,
    },
    /// The latest `⌊test·pairs⌋` pairs of all users.
    Time {
        /// The fraction of all pairs to hold out.
        #[serde(default = "fifth")]
        test: f64,
    },
    /// `⌊test·pairs⌋` pairs, uniform over the items, so that popularity shifts between training and test.
    Popularity {
        /// The fraction of all pairs to hold out.
        #[serde(default = "fifth")]
        test: f64,
    },
}

/// How the validation set is split off the training set. A validation set given by the source is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Validation {
    /// Like the test set: the latest pairs, each user's last items, otherwise a random tenth; none with a popularity
    /// split, since the validation set would not have the same shift, and none without a test set.
    Auto {},
    /// No validation set.
    None {},
    /// `⌊ratio·n⌋` of each user's `n` training items at random, but at least one if `n ≥ 2`.
    Random {
        /// The fraction of each user's training items to hold out.
        #[serde(default = "tenth")]
        ratio: f64,
    },
    /// Each user's last `n` training items; at least one stays in training.
    LeaveLast {
        /// The number of items per user.
        #[serde(default = "one")]
        n: u32,
    },
    /// The latest `⌊ratio·pairs⌋` training pairs of all users.
    Time {
        /// The fraction of all training pairs to hold out.
        #[serde(default = "tenth")]
        ratio: f64,
    },
}

/// An entry of [`SPLITS`] or [`VALIDATIONS`].
#[derive(Debug)]
pub struct SplitEntry<T> {
    /// The `type` in a configuration.
    pub name: &'static str,
    /// A one-line description.
    pub summary: &'static str,
    /// The split with its default settings.
    pub default: T,
}

/// All splits.
#[rustfmt::skip]
pub static SPLITS: &[SplitEntry<Split>] = &[
    SplitEntry { name: "auto", summary: "the sets given by the source, otherwise random", default: Split::Auto {} },
    SplitEntry { name: "given", summary: "the sets given by the source", default: Split::Given {} },
    SplitEntry { name: "none", summary: "no test set: train on everything", default: Split::None {} },
    SplitEntry { name: "random", summary: "a random fraction of each user's items", default: Split::Random { test: 0.2 } },
    SplitEntry { name: "leave-last", summary: "each user's last n items", default: Split::LeaveLast { n: 1 } },
    SplitEntry { name: "time", summary: "the latest fraction of all pairs", default: Split::Time { test: 0.2 } },
    SplitEntry { name: "popularity", summary: "a fraction of all pairs, uniform over items (OOD)", default: Split::Popularity { test: 0.2 } },
];

/// All ways to split off a validation set.
#[rustfmt::skip]
pub static VALIDATIONS: &[SplitEntry<Validation>] = &[
    SplitEntry { name: "auto", summary: "like the test set: time, leave-last or random; none for popularity and none", default: Validation::Auto {} },
    SplitEntry { name: "none", summary: "no validation set", default: Validation::None {} },
    SplitEntry { name: "random", summary: "a random fraction of each user's training items", default: Validation::Random { ratio: 0.1 } },
    SplitEntry { name: "leave-last", summary: "each user's last n training items", default: Validation::LeaveLast { n: 1 } },
    SplitEntry { name: "time", summary: "the latest fraction of all training pairs", default: Validation::Time { ratio: 0.1 } },
];

fn fifth() -> f64 {
    0.2
}

fn tenth() -> f64 {
    0.1
}

fn one() -> u32 {
    1
}

impl Default for Split {
    fn default() -> Self {
        Self::Auto {}
    }
}

impl Default for Validation {
    fn default() -> Self {
        Self::Auto {}
    }
}

impl Split {
    /// The split of that name with its default settings.
    ///
    /// # Errors
    /// If there is no such split; the error suggests a similar name.
    pub fn named(name: &str) -> Result<Self> {
        named("split", name, SPLITS)
    }

    /// The rule that selects the test set; `None` if the sets are given by the source.
    pub(crate) fn rule(&self, given: bool) -> Option<Rule> {
        match *self {
            Self::Given {} => None,
            Self::Auto {} if given => None,
            Self::Auto {} => Some(Rule::Random { share: fifth() }),
            Self::None {} => Some(Rule::Nothing),
            Self::Random { test } => Some(Rule::Random { share: test }),
            Self::LeaveLast { n } => Some(Rule::LeaveLast { n }),
            Self::Time { test } => Some(Rule::Time { share: test }),
            Self::Popularity { test } => Some(Rule::Popularity { share: test }),
        }
    }
}

impl Validation {
    /// The entry of that name with its default settings.
    ///
    /// # Errors
    /// If there is no such entry; the error suggests a similar name.
    pub fn named(name: &str) -> Result<Self> {
        named("validation", name, VALIDATIONS)
    }

    /// The rule that selects the validation set, if there is to be one; `test` is the rule for the test set.
    pub(crate) fn rule(&self, test: Option<Rule>) -> Option<Rule> {
        match *self {
            Self::None {} => None,
            Self::Auto {} => match test {
                Some(Rule::LeaveLast { n }) => Some(Rule::LeaveLast { n }),
                Some(Rule::Time { .. }) => Some(Rule::Time { share: tenth() }),
                Some(Rule::Popularity { .. } | Rule::Nothing) => None,
                Some(Rule::Random { .. }) | None => Some(Rule::Random { share: tenth() }),
            },
            Self::Random { ratio } => Some(Rule::Random { share: ratio }),
            Self::LeaveLast { n } => Some(Rule::LeaveLast { n }),
            Self::Time { ratio } => Some(Rule::Time { share: ratio }),
        }
    }
}

fn named<T: Clone>(kind: &str, name: &str, entries: &[SplitEntry<T>]) -> Result<T> {
    match entries.iter().find(|entry| entry.name == name) {
        Some(entry) => Ok(entry.default.clone()),
        None => Err(unknown_name(kind, name, entries.iter().map(|entry| entry.name)).into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::de::DeserializeOwned;

    use super::*;

    fn listed<T: Clone + Debug + PartialEq + Serialize + DeserializeOwned>(entries: &[SplitEntry<T>]) {
        for entry in entries {
            let short: T = toml::from_str(&format!("type = '{}'", entry.name)).unwrap();
            assert_eq!(short, entry.default, "{}", entry.name);
            let whole: T = toml::from_str(&toml::to_string(&entry.default).unwrap()).unwrap();
            assert_eq!(whole, entry.default, "{}", entry.name);
            let unknown = toml::from_str::<T>(&format!("type = '{}'\nmistyped = 1", entry.name)).unwrap_err();
            assert!(unknown.to_string().contains("mistyped"), "{unknown}");
        }
    }

    #[test]
    fn the_lists_contain_every_variant_of_the_settings() {
        listed(SPLITS);
        listed(VALIDATIONS);
        assert!(toml::from_str::<Split>("type = 'randon'").is_err());
    }

    #[test]
    fn a_mistyped_name_is_answered_with_the_right_one() {
        assert_eq!(Split::named("time").unwrap(), Split::Time { test: 0.2 });
        let error = Split::named("leavelast").unwrap_err().to_string();
        assert!(error.contains("did you mean 'leave-last'?"), "{error}");
        assert!(Validation::named("popularity").is_err());
    }
}
