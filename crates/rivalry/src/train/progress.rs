//! How far a training has come, and who is told.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

/// All that a resumed training must know besides the tables.
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
    /// The value it was chosen by; none where the last epoch is taken, whatever it is.
    pub value: Option<f64>,
}

/// What one evaluation found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The epoch, counted from 1.
    pub epoch: usize,
    /// The mean loss over that epoch.
    pub loss: f64,
    /// Metrics on the validation part, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid: Option<BTreeMap<String, f64>>,
    /// Metrics on the test part, where the epoch is chosen on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<BTreeMap<String, f64>>,
    /// Whether this is the best epoch so far.
    pub best: bool,
    /// Time spent until then.
    pub seconds: Seconds,
}

/// Time spent, over all sittings.
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
pub enum Event<'a> {
    /// It begins, or goes on.
    Started {
        /// Epochs it will run.
        epochs: usize,
        /// Batches in an epoch.
        batches: usize,
        /// Training pairs in an epoch.
        pairs: usize,
        /// Where it goes on from.
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
    /// An evaluation is under way.
    Evaluating {
        /// For how many users the ranking is done.
        users: usize,
    },
    /// An evaluation is done.
    Evaluated(&'a Record),
}

/// Is told of every event, and may ask to stop: then the training ends between two steps or breaks an evaluation off,
/// ready to be resumed.
pub trait Observer {
    /// Takes note. `Break` asks to stop.
    fn observe(&mut self, event: &Event<'_>) -> ControlFlow<()>;
}

impl<F: FnMut(&Event<'_>) -> ControlFlow<()>> Observer for F {
    fn observe(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        self(event)
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn observe(&mut self, _: &Event<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
