//! The result of a training.

use serde::{Deserialize, Serialize};

use super::checkpoint::TrainingState;
use super::progress::Seconds;
use crate::config::{Config, Select};
use crate::data::Dataset;
use crate::eval::{Bucket, Metrics};
use crate::model::Model;
use crate::tensors::Tensors;

/// How a training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// It ran to its end.
    Finished,
    /// Early stopping: there was no improvement for `train.patience` evaluations.
    OutOfPatience,
}

/// A finished training.
pub struct Fit {
    /// What was learned: the epoch that was kept, where there are epochs.
    pub tensors: Tensors,
    /// The figures.
    pub outcome: Outcome,
}

impl Fit {
    /// The trained model, with what belongs to it.
    pub fn into_model(self, dataset: &Dataset, config: Config) -> Model {
        let epoch = self.outcome.training.as_ref().map(|training| training.best_epoch);
        Model::new(dataset, config, self.tensors, epoch)
    }
}

/// The figures of a finished training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// Which epoch was kept, where there are epochs.
    #[serde(flatten)]
    pub training: Option<EpochOutcome>,
    /// Metrics on the validation set, if there is one.
    pub valid: Option<Metrics>,
    /// Metrics on the test set; empty if there is none.
    pub test: Metrics,
    /// The test metrics of popular items alone, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Bucket>,
    /// The test metrics of rare items alone, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<Bucket>,
    /// Coverage, popularity and Gini of the test lists, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<Metrics>,
    /// Why the model is no better than chance, and what to try, if it is not. Follows "nothing was learned: ".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nothing_learned: Option<String>,
    /// Time spent.
    pub seconds: Seconds,
}

/// The epochs of a finished training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochOutcome {
    /// Epochs run.
    pub epochs: usize,
    /// The epoch that was kept, counted from 1.
    pub best_epoch: usize,
    /// How that epoch was chosen.
    pub select: Select,
    /// Training time of an epoch.
    pub epoch_seconds: f64,
    /// Training pairs a second.
    pub pairs_per_second: f64,
}

/// What [`fit`](super::fit()) returns.
pub enum Fitted {
    /// The training ran to its end.
    Done(Box<Fit>),
    /// The observer asked to stop. With the state, which the checkpointer has, too, it can be resumed; a closed form has
    /// none and is begun again.
    Stopped(Option<Box<TrainingState>>),
}
