//! The result of a comparison.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use rivalry::eval::{MetricAt, Metrics};

use crate::selection::Protocol;
use crate::stats::{MeanStd, SignedRank, TTest};

/// Methods, each with its differences from the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The protocol that all runs share.
    #[serde(flatten)]
    pub protocol: Protocol,
    /// The metrics, in the order requested.
    pub metrics: Vec<MetricAt>,
    /// The number of users the differences are paired over.
    pub users: usize,
    /// The name of the method that the others are compared with.
    pub baseline: String,
    /// The confidence level of the intervals.
    pub confidence: f64,
    /// The number of bootstrap resamples.
    pub resamples: usize,
    /// The methods, in the order given.
    pub methods: Vec<MethodSummary>,
}

/// The metrics of one method over its seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MethodSummary {
    /// Its name.
    pub name: String,
    /// The folders of its runs.
    pub runs: Vec<PathBuf>,
    /// Their seeds.
    pub seeds: Vec<u64>,
    /// Whether the seed makes no difference, as for a closed-form model.
    #[serde(default)]
    pub deterministic: bool,
    /// Each metric over the seeds.
    pub metrics: Metrics<MeanStd>,
    /// The same for the most popular fifth of the items.
    pub head: Metrics<MeanStd>,
    /// The same for the least popular fifth of the items.
    pub tail: Metrics<MeanStd>,
    /// Coverage, popularity and Gini index of the recommendation lists over the seeds.
    pub lists: Metrics<MeanStd>,
    /// The difference from the baseline in each metric; empty for the baseline itself.
    pub differences: Metrics<Difference>,
}

/// The difference between a method and the baseline in one metric. Every user counts once, with the mean of their values
/// over the method's seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The mean difference over the users; positive where the method is better.
    pub mean: f64,
    /// The mean difference relative to the baseline's mean; `None` if that is zero.
    pub relative: Option<f64>,
    /// The bootstrap confidence interval of the mean difference.
    pub interval: [f64; 2],
    /// The paired t test.
    pub t: TTest,
    /// Its p value after Holm's correction for all comparisons in this metric.
    pub t_corrected: f64,
    /// Wilcoxon's signed-rank test.
    pub wilcoxon: SignedRank,
    /// Its p value after Holm's correction for all comparisons in this metric.
    pub wilcoxon_corrected: f64,
    /// The share of users for whom the method is better.
    pub better: f64,
    /// The share of users for whom both are the same.
    pub same: f64,
    /// The share of users for whom the method is worse.
    pub worse: f64,
    /// The difference in the metric for the most popular fifth of the items; `None` if no user has such a held-out item.
    pub head: Option<f64>,
    /// The difference in the metric for the least popular fifth of the items; `None` if no user has such a held-out item.
    pub tail: Option<f64>,
}
