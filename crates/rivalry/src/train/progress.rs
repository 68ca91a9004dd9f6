//! The progress of a training, and its observers.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::eval::Metrics;

/// What a resumed training must know besides the tables.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Whole epochs done.
    pub epoch: usize,
    /// Batches done of the epoch after those.
    pub batch: usize,
    /// Sum of the losses of that epoch's pairs so far.
    pub loss_sum: f64,
    /// The epoch kept so far.
    pub best: Option<Best>,
    /// Evaluations since then.
    pub since_best: usize,
    /// One record an evaluation.
    pub history: Vec<Record>,
    /// Time spent.
    pub seconds: Seconds,
}

/// The epoch that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// The epoch, counted from 1.
    pub epoch: usize,
    /// The value it was chosen by; none where the last epoch is taken.
    pub value: Option<f64>,
}

/// The result of one evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The epoch, counted from 1.
    pub epoch: usize,
    /// The mean loss over that epoch.
    pub loss: f64,
    /// Metrics on the validation set, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid: Option<Metrics>,
    /// Metrics on the test set, where the epoch is chosen on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Metrics>,
    /// Whether this is the best epoch so far.
    pub best: bool,
    /// Time spent until then.
    pub seconds: Seconds,
}

/// Time spent, resumed trainings included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// On training steps.
    pub train: f64,
    /// On evaluations.
    pub eval: f64,
}

/// What happens during a training.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TrainEvent<'a> {
    /// It starts or is resumed.
    Started {
        /// Epochs to run; 0 for a closed form.
        epochs: usize,
        /// Batches in an epoch.
        batches: usize,
        /// Training pairs in an epoch.
        pairs: usize,
        /// Where it is resumed from.
        progress: &'a Progress,
    },
    /// A step was taken.
    Step {
        /// The epoch, counted from 1.
        epoch: usize,
        /// The batch within it, counted from 1.
        batch: usize,
        /// The mean loss of the epoch so far.
        loss: f64,
    },
    /// A closed form is being fitted.
    Fitting {
        /// Pieces of the work that are done.
        done: usize,
        /// All pieces.
        total: usize,
    },
    /// An evaluation is in progress.
    Evaluating {
        /// Users ranked so far.
        users: usize,
    },
    /// An evaluation is done.
    Evaluated(&'a Record),
}

/// Is told of every event, and may ask to stop: then the training stops between two steps or within an evaluation, ready
/// to be resumed.
pub trait Observer {
    /// Receives an event. `Break` asks to stop.
    fn observe(&mut self, event: &TrainEvent<'_>) -> ControlFlow<()>;
}

impl<F: FnMut(&TrainEvent<'_>) -> ControlFlow<()>> Observer for F {
    fn observe(&mut self, event: &TrainEvent<'_>) -> ControlFlow<()> {
        self(event)
    }
}

/// Ignores every event.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn observe(&mut self, _: &TrainEvent<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
