//! What a closed-form model must do.

use std::ops::ControlFlow;

use crate::Result;
use crate::collective::Collective;
use crate::data::Interactions;
use crate::scorer::Scorer;
use crate::tensors::Tensors;

/// A model that is computed from the training set without gradients: no loss, no checkpoints.
pub trait ClosedForm: Send + Sync {
    /// An estimate of the memory that [`fit`](Self::fit) and the use of the model take at their peak, in bytes.
    fn memory(&self, train: &Interactions) -> u64;

    /// What to do where that is too much.
    fn memory_help(&self) -> &'static str {
        "keep fewer users and items, or raise --max-memory"
    }

    /// Whether the seed makes a difference.
    fn uses_seed(&self) -> bool {
        false
    }

    /// Whether several processes can share a fit.
    fn is_shared(&self) -> bool {
        false
    }

    /// Computes the model; `None` if the context asked to stop.
    ///
    /// # Errors
    /// If the training set admits no such model.
    fn fit(&self, train: &Interactions, context: &mut FitContext<'_>) -> Result<Option<Tensors>>;

    /// The scorer of a fitted model, from what [`fit`](Self::fit) made, possibly read back from a file.
    ///
    /// # Errors
    /// If the tensors are not those of such a model.
    fn scorer(&self, tensors: &Tensors, train: &Interactions) -> Result<Box<dyn Scorer>>;
}

/// What a fit gets besides the data: a seed, and somebody to report to.
pub struct FitContext<'a> {
    /// The seed of all that is random.
    pub seed: u64,
    /// Is told how much of the work is done, of how much; may ask to stop.
    pub progress: &'a mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    /// The processes that share the fit; all of them end with the same model.
    pub collective: &'a dyn Collective,
}

impl FitContext<'_> {
    /// Reports that `done` of `total` pieces of the work are done. Whether to go on: all processes do, or none.
    pub fn go_on(&mut self, done: usize, total: usize) -> bool {
        let stop = (self.progress)(done, total).is_break();
        !self.collective.any(stop)
    }
}
