//! How to evaluate. The published reference differs from good practice in `mask` and `average`, and both
//! move the figures: so they are named, settable and on record.

use super::check;
use crate::Result;
use crate::data::Dataset;
use serde::{Deserialize, Serialize};

/// Which held-out part is the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// What epochs and settings are chosen on.
    Valid,
    /// What is reported.
    Test,
}

/// Which known items may not be recommended while the test part is evaluated.
///
/// On the validation part only training items are masked, whatever is chosen here: at that time the test items
/// are unknown, so they compete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mask {
    /// Training items; validation items compete. The published reference does this.
    #[serde(rename = "train")]
    Train,
    /// Training and validation items: all that is known about the user before the test.
    #[default]
    #[serde(rename = "train+valid")]
    TrainValid,
}

/// Over whom the mean is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Average {
    /// Users with at least one held-out item.
    #[default]
    Evaluable,
    /// All users; those without held-out items count as 0. The published reference does this.
    All,
}

/// What to measure and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvalOptions {
    /// The lengths of list to measure at: each at least 1 and at most the number of items. Default: 20.
    pub k: Vec<usize>,
    /// What may not be recommended. Default: `train+valid`.
    pub mask: Mask,
    /// Over whom the mean is taken. Default: `evaluable`.
    pub average: Average,
    /// Whether to keep each user's values. Default: no.
    pub per_user: bool,
    /// Whether to measure popular and rare items apart, too. Default: no.
    pub buckets: bool,
    /// Whether to measure coverage, popularity and Gini of the lists, too. Default: no.
    pub beyond_accuracy: bool,
}

impl Default for EvalOptions {
    fn default() -> Self {
        Self {
            k: vec![20],
            mask: Mask::default(),
            average: Average::default(),
            per_user: false,
            buckets: false,
            beyond_accuracy: false,
        }
    }
}

impl EvalOptions {
    /// Refuses what could not be measured on these data, before anything costly is done.
    pub fn check(&self, dataset: &Dataset) -> Result<()> {
        check::list_lengths(&self.k, dataset.train.n_items()).map(|_| ())
    }

    /// The metric an epoch is chosen by: NDCG@20, or NDCG at the longest list where 20 is not measured.
    pub fn selection_metric(&self) -> String {
        let k = if self.k.contains(&20) { 20 } else { self.k.iter().copied().max().unwrap_or(20) };
        format!("NDCG@{k}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_by_their_documented_names() {
        let text = "k = [5, 20]\nmask = \"train\"\naverage = \"all\"\nbuckets = true";
        let options: EvalOptions = toml::from_str(text).unwrap();
        let expected = EvalOptions {
            k: vec![5, 20],
            mask: Mask::Train,
            average: Average::All,
            buckets: true,
            ..EvalOptions::default()
        };
        assert_eq!(options, expected);
        assert_eq!(toml::from_str::<EvalOptions>("mask = \"train+valid\"").unwrap(), EvalOptions::default());
        assert_eq!(toml::from_str::<EvalOptions>(&toml::to_string(&options).unwrap()).unwrap(), options);
        assert!(toml::from_str::<EvalOptions>("avrage = \"all\"").is_err());
    }
}
