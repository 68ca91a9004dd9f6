//! The split that was applied, with nothing left to defaults.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Rule, Split, Validation};
use crate::Preparation;

/// How the sets of a data set were chosen: the settings with `auto` resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AppliedSplit {
    /// How the test set was chosen.
    pub test: Split,
    /// How the validation set was chosen.
    pub validation: Validation,
    /// Whether the validation set is one that the source gives.
    #[serde(default)]
    pub validation_given: bool,
    /// The seed of random splits.
    pub seed: u64,
}

impl AppliedSplit {
    /// What a preparation does with a source; `given` says whether the source is split, `validation_given` whether a
    /// validation set is one of its sets.
    pub(crate) fn new(preparation: &Preparation, given: bool, validation_given: bool) -> Self {
        let rule = preparation.split.rule(given);
        let test = match rule {
            None => Split::Given {},
            Some(Rule::Nothing) => Split::None {},
            Some(Rule::Random { share: test }) => Split::Random { test },
            Some(Rule::LeaveLast { n }) => Split::LeaveLast { n },
            Some(Rule::Time { share: test }) => Split::Time { test },
            Some(Rule::Popularity { share: test }) => Split::Popularity { test },
        };
        let validation = match preparation.validation.rule(rule) {
            Some(Rule::Random { share: ratio }) => Validation::Random { ratio },
            Some(Rule::LeaveLast { n }) => Validation::LeaveLast { n },
            Some(Rule::Time { share: ratio }) => Validation::Time { ratio },
            Some(Rule::Popularity { .. } | Rule::Nothing) | None => Validation::None {},
        };
        Self { test, validation, validation_given, seed: preparation.seed }
    }

    /// Writes out what was left to the defaults of a log, so that a preparation means the same with other defaults.
    pub fn resolve(&self, preparation: &mut Preparation) {
        if preparation.split == (Split::Auto {}) && self.test != (Split::Given {}) {
            preparation.split = self.test.clone();
            preparation.validation = self.validation.clone();
        }
    }

    fn is_random(&self) -> bool {
        let validation = matches!(self.validation, Validation::Random { .. }) && !self.validation_given;
        validation || matches!(self.test, Split::Random { .. } | Split::Popularity { .. })
    }
}

/// In one line: `random, 20 % of each user's items for test, 10 % of the others for validation (seed 0)`.
impl fmt::Display for AppliedSplit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.test {
            Split::Auto {} | Split::Given {} => write!(f, "given by the source")?,
            Split::None {} => write!(f, "none, no test set")?,
            Split::Random { test } => write!(f, "random, {} of each user's items for test", percent(test))?,
            Split::LeaveLast { n } => write!(f, "leave-last, each user's last {} for test", last(n))?,
            Split::Time { test } => write!(f, "time, the latest {} of all pairs for test", percent(test))?,
            Split::Popularity { test } => {
                write!(f, "popularity, {} of all pairs, uniform over items, for test", percent(test))?;
            }
        }
        match self.validation {
            _ if self.validation_given => write!(f, ", validation given by the source")?,
            Validation::Auto {} | Validation::None {} => write!(f, ", no validation")?,
            Validation::Random { ratio } => {
                write!(f, ", {} of each user's other items for validation", percent(ratio))?;
            }
            Validation::LeaveLast { n } => write!(f, ", the {} before for validation", last(n))?,
            Validation::Time { ratio } => {
                write!(f, ", the latest {} of the other pairs for validation", percent(ratio))?;
            }
        }
        if self.is_random() { write!(f, " (seed {})", self.seed) } else { Ok(()) }
    }
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}

fn last(n: u32) -> String {
    if n == 1 { "item".to_owned() } else { format!("{n} items") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(text: &str, given: bool, validation_given: bool) -> AppliedSplit {
        AppliedSplit::new(&toml::from_str(text).unwrap(), given, validation_given)
    }

    #[test]
    fn nothing_is_left_to_defaults() {
        let split = applied("", false, false);
        let text = "random, 20 % of each user's items for test, 10 % of each user's other items for validation (seed 0)";
        assert_eq!(split.to_string(), text);
        let mut preparation = Preparation::default();
        split.resolve(&mut preparation);
        assert_eq!(preparation.split, Split::Random { test: 0.2 });
        assert_eq!(preparation.validation, Validation::Random { ratio: 0.1 });
        assert_eq!(AppliedSplit::new(&preparation, false, false), split);
    }

    #[test]
    fn every_split_is_described() {
        for (text, given, expected) in [
            (
                "split.type = 'leave-last'",
                false,
                "leave-last, each user's last item for test, the item before for validation",
            ),
            (
                "split.type = 'time'",
                false,
                "time, the latest 20 % of all pairs for test, the latest 10 % of the other pairs for validation",
            ),
            ("split.type = 'none'", false, "none, no test set, no validation"),
            ("validation.type = 'none'", true, "given by the source, no validation"),
            (
                "split = { type = 'popularity', test = 0.125 }\nseed = 7",
                false,
                "popularity, 12.5 % of all pairs, uniform over items, for test, no validation (seed 7)",
            ),
        ] {
            assert_eq!(applied(text, given, false).to_string(), expected);
        }
        assert_eq!(
            applied("", true, true).to_string(),
            "given by the source, validation given by the source"
        );
    }
}
