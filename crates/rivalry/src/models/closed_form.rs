//! What a closed-form model must do.

use crate::Result;
use crate::data::Interactions;
use crate::scorer::Scorer;
use crate::tensors::Tensors;

/// A model that is computed from the training set in one go: no epochs, no loss, no checkpoints.
pub trait ClosedForm: Send + Sync {
    /// An estimate of the memory that [`fit`](Self::fit) takes at its peak, in bytes.
    fn memory(&self, train: &Interactions) -> u64;

    /// Computes the model.
    ///
    /// # Errors
    /// If the training set admits no such model.
    fn fit(&self, train: &Interactions) -> Result<Tensors>;

    /// The scorer of a fitted model, from what [`fit`](Self::fit) made, possibly read back from a file.
    ///
    /// # Errors
    /// If the tensors are not those of such a model.
    fn scorer(&self, tensors: &Tensors, train: &Interactions) -> Result<Box<dyn Scorer>>;
}
