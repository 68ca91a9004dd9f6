//! What must outlive a training, and where it goes.

use super::model::Model;
use super::optim::AdamState;
use super::progress::Progress;
use crate::backbone::Embeddings;
use crate::{Result, loss};

/// Where a training leaves what must outlive it.
pub trait Store {
    /// Keeps the model of the best epoch so far. Called before the progress that names that epoch is saved.
    fn save_best(&mut self, model: &Model, epoch: usize) -> Result<()>;

    /// Keeps all that is needed to go on.
    fn save_progress(&mut self, progress: &Progress, moment: Moment<'_>) -> Result<()>;
}

/// All that the next steps depend on, besides the progress.
pub struct Moment<'a> {
    /// The learned tables.
    pub learned: &'a Embeddings,
    /// Their optimiser.
    pub optim: &'a AdamState,
    /// The rival's tables and optimiser, where the loss has a rival.
    pub rival: Option<(&'a Embeddings, &'a AdamState)>,
    /// What the loss keeps from step to step.
    pub loss: loss::State,
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nowhere;

impl Store for Nowhere {
    fn save_best(&mut self, _: &Model, _: usize) -> Result<()> {
        Ok(())
    }

    fn save_progress(&mut self, _: &Progress, _: Moment<'_>) -> Result<()> {
        Ok(())
    }
}

/// A training that was stopped between two steps.
pub struct Stopped {
    /// How far it had come.
    pub progress: Progress,
    /// The learned tables.
    pub learned: Embeddings,
    /// The optimiser's state.
    pub optim: AdamState,
    /// The rival's tables and optimiser, where the loss has a rival.
    pub rival: Option<(Embeddings, AdamState)>,
    /// What the loss keeps from step to step.
    pub loss: loss::State,
    /// The tables of the best epoch, if there has been an evaluation.
    pub best: Option<Embeddings>,
}
