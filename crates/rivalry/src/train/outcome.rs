//! What a training comes back with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::progress::Seconds;
use super::store::Stopped;
use crate::backbone::Embeddings;
use crate::config::Select;
use crate::eval::Bucket;

/// How a training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// All epochs were run.
    Finished,
    /// There had been no better evaluation for as long as `train.patience` allows.
    OutOfPatience,
}

/// A finished training.
pub struct Fit {
    /// The learned tables of the epoch that was kept.
    pub learned: Embeddings,
    /// The figures.
    pub outcome: Outcome,
}

/// The figures of a finished training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// Epochs run.
    pub epochs: usize,
    /// The epoch that was kept, counted from 1.
    pub best_epoch: usize,
    /// How that epoch was chosen.
    pub select: Select,
    /// Its metrics on the validation part, if there is one.
    pub valid: Option<BTreeMap<String, f64>>,
    /// Its metrics on the test part; empty if there is none.
    pub test: BTreeMap<String, f64>,
    /// The test metrics of popular items alone, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Bucket>,
    /// The test metrics of rare items alone, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<Bucket>,
    /// Coverage, popularity and Gini of the test lists, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<BTreeMap<String, f64>>,
    /// Time spent.
    pub seconds: Seconds,
    /// Training time of an epoch.
    pub epoch_seconds: f64,
    /// Training pairs a second.
    pub pairs_per_second: f64,
}

/// What [`fit`](super::fit()) comes back with.
pub enum Fitted {
    /// The training ran to its end.
    Done(Box<Fit>),
    /// The observer asked to stop; the store has what is needed to go on.
    Stopped(Box<Stopped>),
}
