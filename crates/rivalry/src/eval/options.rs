//! The settings of an evaluation. The published reference differs from good practice in `mask` and `average`, and both
//! change the figures: so they are named, can be set, and are recorded.

use super::{METRICS, MetricAt, check};
use crate::data::{Dataset, declared};
use crate::memory::MemoryLimit;
use crate::{InputError, Result};
use serde::{Deserialize, Serialize};

/// The part of the data set that a model is evaluated on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvalPart {
    /// The validation set, on which epochs and settings are chosen.
    Valid,
    /// The test set, which is reported.
    Test,
}

/// The known items that may not be recommended when the test set is evaluated.
///
/// On the validation set only training items are masked, whatever is chosen here: test items are unknown at that time,
/// so they are candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mask {
    /// Training items; validation items are candidates. The published reference does this.
    #[serde(rename = "train")]
    Train,
    /// Training and validation items: all that is known of the user before the test.
    #[default]
    #[serde(rename = "train+valid")]
    TrainValid,
}

/// The users that the mean of a metric is taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Average {
    /// Users with at least one held-out item.
    #[default]
    Evaluable,
    /// All users; those without held-out items count as 0. The published reference does this.
    All,
}

declared! {
/// The settings of an evaluation: `[eval]` of a config.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvalOptions {
    /// The list lengths: each at least 1 and at most the number of items.
    pub k: Vec<usize>,
    /// The items that are masked.
    pub mask: Mask,
    /// The users that means are taken over.
    pub average: Average,
    /// Whether to measure popular and rare items separately, too.
    pub buckets: bool,
    /// Whether to measure coverage, popularity and Gini of the lists, too.
    pub beyond_accuracy: bool,
    /// The metric by which epochs and settings are chosen, one of those that are measured; by default NDCG@20, or NDCG of
    /// the longest list where 20 is not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub select_by: Option<MetricAt>,
    /// Whether to return each user's values. Not a setting of a config: callers that want them ask for them.
    #[serde(skip)]
    pub per_user: bool,
    /// How much memory the lists may take. Not a setting of a config.
    #[serde(skip)]
    pub memory: MemoryLimit,
}
}

impl Default for EvalOptions {
    fn default() -> Self {
        Self {
            k: vec![20],
            mask: Mask::default(),
            average: Average::default(),
            buckets: false,
            beyond_accuracy: false,
            select_by: None,
            per_user: false,
            memory: MemoryLimit::default(),
        }
    }
}

impl EvalOptions {
    /// Checks that these data can be evaluated with these settings, before anything costly is done. Without held-out sets
    /// nothing is evaluated, so nothing is refused.
    ///
    /// # Errors
    /// If a list length is 0 or exceeds the number of items.
    pub fn check(&self, dataset: &Dataset) -> Result<()> {
        if dataset.valid.is_empty() && dataset.test.is_empty() {
            return Ok(());
        }
        check::list_lengths(&self.k, dataset.train.n_items()).map(|_| ())
    }

    /// Shortens lists of the default length where there are fewer items, and returns the new length if it did.
    pub fn fit_default(&mut self, n_items: usize) -> Option<usize> {
        let too_long = self.k == Self::default().k && self.k.iter().any(|&k| k > n_items) && n_items > 0;
        too_long.then(|| {
            self.k = vec![n_items];
            n_items
        })
    }

    /// The same evaluation with nothing but the metrics: no buckets, no beyond-accuracy, no values per user.
    #[must_use]
    pub fn metrics_only(&self) -> Self {
        Self { buckets: false, beyond_accuracy: false, per_user: false, ..self.clone() }
    }

    /// Checks that the metric to select by is one that is measured.
    ///
    /// # Errors
    /// If it is not; the error names those that are.
    pub fn check_selection(&self) -> Result<()> {
        let Some(metric) = self.select_by else { return Ok(()) };
        if metric.entry().is_some() && self.k.contains(&metric.k()) {
            return Ok(());
        }
        let measured = self.k.iter().flat_map(|&k| METRICS.iter().map(move |entry| entry.at(k).to_string()));
        let measured: Vec<String> = measured.collect();
        let error = InputError::new(format!("{metric} is not measured"));
        let mut help = format!("choose one of {}", measured.join(", "));
        if metric.entry().is_some() {
            let lists: Vec<String> = self.k.iter().chain([&metric.k()]).map(usize::to_string).collect();
            help += &format!("; or measure it, too, with `eval.k = {}`", lists.join(","));
        }
        Err(error.field("eval.select_by").help(help).into())
    }

    /// The metric an epoch is chosen by.
    pub fn selection_metric(&self) -> MetricAt {
        if let Some(metric) = self.select_by {
            return metric;
        }
        let k = if self.k.contains(&20) { 20 } else { self.k.iter().copied().max().unwrap_or(20) };
        MetricAt::ndcg(k)
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

    #[test]
    fn a_metric_to_select_by_must_be_measured() {
        let options = |text: &str| toml::from_str::<EvalOptions>(text).unwrap();
        let recall = options("k = [5, 20]\nselect_by = \"recall@5\"");
        assert_eq!(recall.selection_metric(), MetricAt::recall(5));
        assert!(recall.check_selection().is_ok());
        for not_measured in ["NDCG@10", "Coverage@20"] {
            let error = options(&format!("select_by = \"{not_measured}\"")).check_selection().unwrap_err();
            let error = error.to_string();
            assert!(error.starts_with(&format!("eval.select_by: {not_measured} is not measured")), "{error}");
            assert!(error.contains("Recall@20") && error.contains("NDCG@20"), "{error}");
        }
    }
}
