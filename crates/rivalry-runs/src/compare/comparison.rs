//! What a comparison found, as data.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::stats::{SignedRank, Summary, TTest};
use rivalry::config::Select;
use rivalry::eval::{Average, Mask};

/// Methods beside each other, and each against the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What is the same for all.
    #[serde(flatten)]
    pub terms: Terms,
    /// What was measured, in the order asked for.
    pub metrics: Vec<String>,
    /// How many users the differences are paired over: those with held-out items.
    pub users: usize,
    /// The name of the method that the others are held against.
    pub baseline: String,
    /// The share of bootstrap means inside the intervals.
    pub confidence: f64,
    /// How many bootstrap means there were.
    pub resamples: usize,
    /// The methods, in the order given.
    pub methods: Vec<Compared>,
}

/// The data and the protocol of all runs that are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// The name of the data.
    pub data: String,
    /// The checksum of the data and their split.
    pub data_checksum: String,
    /// What could not be recommended.
    pub mask: Mask,
    /// Over whom the means are taken.
    pub average: Average,
    /// How the epoch of each gradient-trained run was chosen; `None` if there is no such run.
    pub select: Option<Select>,
}

/// One method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Its name.
    pub name: String,
    /// The folders of its runs.
    pub runs: Vec<PathBuf>,
    /// Their seeds.
    pub seeds: Vec<u64>,
    /// Each metric over the seeds.
    pub metrics: BTreeMap<String, Summary>,
    /// The same of the most popular fifth of the items.
    pub head: BTreeMap<String, Summary>,
    /// The same of the least popular fifth of the items.
    pub tail: BTreeMap<String, Summary>,
    /// Coverage, popularity and Gini of the lists over the seeds.
    pub lists: BTreeMap<String, Summary>,
    /// How it differs from the baseline in each metric; empty for the baseline itself.
    pub differences: BTreeMap<String, Difference>,
}

/// How far a method is from the baseline in one metric, and how sure that is. Every user counts once, with the mean of
/// their values over the method's seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The mean difference over the users; positive where the method is better.
    pub mean: f64,
    /// The same as a share of the baseline's mean; none if that is zero.
    pub relative: Option<f64>,
    /// The bootstrap confidence interval of the mean difference.
    pub interval: [f64; 2],
    /// The paired t test.
    pub t: TTest,
    /// Its p value corrected (Holm) for all comparisons in this metric.
    pub t_corrected: f64,
    /// Wilcoxon's signed-rank test.
    pub wilcoxon: SignedRank,
    /// Its p value corrected (Holm) for all comparisons in this metric.
    pub wilcoxon_corrected: f64,
    /// The share of users for whom the method is better.
    pub better: f64,
    /// The share of users for whom both are the same.
    pub same: f64,
    /// The share of users for whom the method is worse.
    pub worse: f64,
    /// The difference in the metric of the most popular fifth of the items; none if nobody has such a held-out item.
    pub head: Option<f64>,
    /// The difference in the metric of the least popular fifth of the items; none if nobody has such a held-out item.
    pub tail: Option<f64>,
}
