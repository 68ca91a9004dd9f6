//! What must outlive a training.

use super::progress::Progress;
use crate::backbone::Embeddings;
use crate::config::Config;
use crate::data::Dataset;
use crate::model::{LEARNED, Model};
use crate::optim::{OptimizerState, Size, StateRef, Touched, Trainable};
use crate::tensors::Tensors;
use crate::{Result, loss};

/// Saves what must outlive a training.
pub trait Checkpointer {
    /// Saves the model of the best epoch so far, or of a closed form. Called before the progress that names that epoch
    /// is saved.
    ///
    /// # Errors
    /// If it can't be saved.
    fn save_model(&mut self, tensors: &Tensors, epoch: Option<usize>) -> Result<()>;

    /// Saves what is needed to resume.
    ///
    /// # Errors
    /// If it can't be saved.
    fn save_progress(&mut self, progress: &Progress, snapshot: Snapshot<'_>) -> Result<()>;
}

/// All that the next steps depend on, besides the progress.
pub struct Snapshot<'a> {
    /// The learned tables.
    pub learned: &'a Embeddings,
    /// The state of their optimiser.
    pub optim: StateRef<'a>,
    /// The adversary's tables and optimiser, where the loss has an adversary.
    pub adversary: Option<(&'a Embeddings, StateRef<'a>)>,
    /// What the loss keeps from step to step.
    pub loss: loss::State,
}

/// Saves nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCheckpoints;

impl Checkpointer for NoCheckpoints {
    fn save_model(&mut self, _: &Tensors, _: Option<usize>) -> Result<()> {
        Ok(())
    }

    fn save_progress(&mut self, _: &Progress, _: Snapshot<'_>) -> Result<()> {
        Ok(())
    }
}

/// A training that was stopped between two steps, ready to be resumed.
pub struct TrainingState {
    /// How far it had come.
    pub progress: Progress,
    /// The learned tables.
    pub learned: Embeddings,
    /// The optimiser's state.
    pub optim: OptimizerState,
    /// The adversary's tables and optimiser, where the loss has an adversary.
    pub adversary: Option<(Embeddings, OptimizerState)>,
    /// What the loss keeps from step to step.
    pub loss: loss::State,
    /// The tensors of the best epoch, if there has been an evaluation.
    pub best: Option<Tensors>,
}

impl TrainingState {
    /// The model of a training that is not resumed: of the best epoch so far where epochs are chosen by a metric, otherwise
    /// with the latest tables.
    pub fn into_model(self, dataset: &Dataset, config: Config) -> Model {
        let best = self.progress.best.filter(|best| best.value.is_some());
        if let (Some(best), Some(tensors)) = (best, self.best) {
            return Model::new(dataset, config, tensors, Some(best.epoch));
        }
        let mut tensors = Tensors::default();
        tensors.put_embeddings(LEARNED, &up_to_date(self.learned, self.optim, &config));
        Model::new(dataset, config, tensors, Some(self.progress.epoch))
    }
}

/// The tables with the updates that the optimiser has deferred.
fn up_to_date(mut learned: Embeddings, state: OptimizerState, config: &Config) -> Embeddings {
    if let Some(gradient) = &config.gradient {
        let mut optimizer = gradient.optim.build(Size::of(&learned));
        if optimizer.restore(state) {
            let mut grads = Size::of(&learned).zeros();
            let touched = Touched::default();
            optimizer.catch_up(Trainable { params: &mut learned, grads: &mut grads, unit: None, touched });
        }
    }
    learned
}
