//! What a configuration says about splits, and the lists of its choices.

use serde::{Deserialize, Serialize};

use super::Rule;
use crate::error::{Result, unknown_name};

/// How the test part comes about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Split {
    /// The parts the source names, if it names any; otherwise random with its defaults.
    Auto {},
    /// The parts the source names.
    Given {},
    /// Of each user's `n` items, `⌊test·n⌋` at random, but at least one if `n ≥ 2`.
    Random {
        /// The share of each user's items that is held out.
        #[serde(default = "fifth")]
        test: f64,
    },
    /// Each user's last `n` items; at least one stays in training.
    LeaveLast {
        /// How many items of each user.
        #[serde(default = "one")]
        n: u32,
    },
    /// The latest `⌊test·pairs⌋` pairs of all.
    Time {
        /// The share of all pairs that is held out.
        #[serde(default = "fifth")]
        test: f64,
    },
    /// `⌊test·pairs⌋` pairs, spread evenly over the items, so that popularity shifts between training and test.
    Popularity {
        /// The share of all pairs that is held out.
        #[serde(default = "fifth")]
        test: f64,
    },
}

/// How the validation part is carved out of the training part. A source that names a validation part keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Validation {
    /// As the test part comes about: the latest pairs, each user's last ones, or else a random tenth; none where
    /// popularity shifts, since a validation part would not shift with it.
    Auto {},
    /// Not at all.
    None {},
    /// Of each user's `n` training items, `⌊ratio·n⌋` at random, but at least one if `n ≥ 2`.
    Random {
        /// The share of each user's training items that is held out.
        #[serde(default = "tenth")]
        ratio: f64,
    },
    /// Each user's last `n` training items; at least one stays in training.
    LeaveLast {
        /// How many items of each user.
        #[serde(default = "one")]
        n: u32,
    },
    /// The latest `⌊ratio·pairs⌋` training pairs of all.
    Time {
        /// The share of all training pairs that is held out.
        #[serde(default = "tenth")]
        ratio: f64,
    },
}

/// A named choice: what it is called in a configuration, what it does, and its default settings.
#[derive(Debug)]
pub struct Choice<T> {
    /// The `type` in a configuration.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// The choice with its default settings.
    pub default: T,
}

/// Every split.
#[rustfmt::skip]
pub static SPLITS: &[Choice<Split>] = &[
    Choice { name: "auto", summary: "the parts the source names, or else random", default: Split::Auto {} },
    Choice { name: "given", summary: "the parts the source names", default: Split::Given {} },
    Choice { name: "random", summary: "a random share of each user's items", default: Split::Random { test: 0.2 } },
    Choice { name: "leave-last", summary: "each user's last n items", default: Split::LeaveLast { n: 1 } },
    Choice { name: "time", summary: "the latest share of all pairs", default: Split::Time { test: 0.2 } },
    Choice { name: "popularity", summary: "a share of all pairs, even over items (OOD)", default: Split::Popularity { test: 0.2 } },
];

/// Every way to carve a validation part.
#[rustfmt::skip]
pub static VALIDATIONS: &[Choice<Validation>] = &[
    Choice { name: "auto", summary: "as the test part: by time, last or random; none for popularity", default: Validation::Auto {} },
    Choice { name: "none", summary: "no validation part", default: Validation::None {} },
    Choice { name: "random", summary: "a random share of each user's training items", default: Validation::Random { ratio: 0.1 } },
    Choice { name: "leave-last", summary: "each user's last n training items", default: Validation::LeaveLast { n: 1 } },
    Choice { name: "time", summary: "the latest share of all training pairs", default: Validation::Time { ratio: 0.1 } },
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
    pub fn named(name: &str) -> Result<Self> {
        named("split", name, SPLITS)
    }

    /// The rule that holds out the test part; `None` if the source names its parts.
    pub(in crate::data) fn rule(&self, given: bool) -> Option<Rule> {
        match *self {
            Self::Given {} => None,
            Self::Auto {} if given => None,
            Self::Auto {} => Some(Rule::Random { share: fifth() }),
            Self::Random { test } => Some(Rule::Random { share: test }),
            Self::LeaveLast { n } => Some(Rule::LeaveLast { n }),
            Self::Time { test } => Some(Rule::Time { share: test }),
            Self::Popularity { test } => Some(Rule::Popularity { share: test }),
        }
    }
}

impl Validation {
    /// The way of that name with its default settings.
    pub fn named(name: &str) -> Result<Self> {
        named("validation", name, VALIDATIONS)
    }

    /// The rule that holds out the validation part, if there is to be one, where `test` holds out the test part.
    pub(in crate::data) fn rule(&self, test: Option<Rule>) -> Option<Rule> {
        match *self {
            Self::None {} => None,
            Self::Auto {} => match test {
                Some(Rule::LeaveLast { n }) => Some(Rule::LeaveLast { n }),
                Some(Rule::Time { .. }) => Some(Rule::Time { share: tenth() }),
                Some(Rule::Popularity { .. }) => None,
                Some(Rule::Random { .. }) | None => Some(Rule::Random { share: tenth() }),
            },
            Self::Random { ratio } => Some(Rule::Random { share: ratio }),
            Self::LeaveLast { n } => Some(Rule::LeaveLast { n }),
            Self::Time { ratio } => Some(Rule::Time { share: ratio }),
        }
    }
}

fn named<T: Clone>(kind: &str, name: &str, choices: &[Choice<T>]) -> Result<T> {
    match choices.iter().find(|choice| choice.name == name) {
        Some(choice) => Ok(choice.default.clone()),
        None => Err(unknown_name(kind, name, choices.iter().map(|choice| choice.name)).into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::de::DeserializeOwned;

    use super::*;

    fn listed<T: Clone + Debug + PartialEq + Serialize + DeserializeOwned>(choices: &[Choice<T>]) {
        for choice in choices {
            let short: T = toml::from_str(&format!("type = '{}'", choice.name)).unwrap();
            assert_eq!(short, choice.default, "{}", choice.name);
            let whole: T = toml::from_str(&toml::to_string(&choice.default).unwrap()).unwrap();
            assert_eq!(whole, choice.default, "{}", choice.name);
            let unknown =
                toml::from_str::<T>(&format!("type = '{}'\nmistyped = 1", choice.name)).unwrap_err();
            assert!(unknown.to_string().contains("mistyped"), "{unknown}");
        }
    }

    #[test]
    fn the_lists_name_what_a_configuration_can_say() {
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
