//! Losses. A loss sees the scores of a training pair and its negatives, and answers with a value and the
//! gradients of these scores. It never sees embeddings: gathering and scattering are the trainer's.
//!
//! A new loss is one file with an `Entry`, and one line in [`LOSSES`].

mod competition;
mod dsl;
mod kappa;
mod sl;
mod softmax;

use rivalry_kernels::Real;

use crate::Result;
use crate::config::{self, Params};

/// All losses, in the order they are listed to the user.
pub static LOSSES: &[Entry] = &[sl::SL, dsl::DSL, dsl::DSL_KAPPA, dsl::DSL_CA];

/// A loss on the list. Its parameters are legal, so building it can't fail.
pub type Entry = config::Entry<fn(&Params) -> Box<dyn Loss>>;

/// A loss, ready for training in `f32` and for checking in `f64`.
pub trait Loss: RowLoss<f32> + RowLoss<f64> {}
impl<L: RowLoss<f32> + RowLoss<f64>> Loss for L {}

/// What a loss computes, in two passes over the rows of a batch.
///
/// Rows are independent within a pass, so they run side by side. What a row must know of the others goes
/// through one number a row: [`measure`](Self::measure) makes it, [`calibrate`](Self::calibrate) sees them all.
pub trait RowLoss<T: Real>: Send + Sync {
    /// Whether [`Row::similarities`] must be filled in.
    fn uses_similarities(&self) -> bool {
        false
    }

    /// The first pass: what the batch must know of this row.
    fn measure(&self, _row: Row<'_, T>) -> T {
        T::one()
    }

    /// Between the passes: turns all rows' measures into what the second pass needs.
    fn calibrate(&self, _measures: &mut [T]) {}

    /// The second pass: the row's value, and its gradients with respect to the scores.
    /// `grad` comes with one place for each negative.
    fn gradient(&self, row: Row<'_, T>, calibrated: T, grad: &mut [T]) -> RowGradient<T>;
}

/// One training pair as a loss sees it.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a, T> {
    /// Score of the positive item.
    pub positive: T,
    /// Scores of the negatives.
    pub negatives: &'a [T],
    /// Cosine between the positive item and each negative; empty unless the loss asked for them.
    pub similarities: &'a [T],
}

/// The outcome of a row's second pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowGradient<T> {
    /// The row's loss.
    pub value: T,
    /// Gradient with respect to the positive's score.
    pub positive: T,
}

/// The loss a config section asks for.
///
/// ```
/// let section = "type = 'dsl'\ntau = 0.1".parse().unwrap();
/// let loss = rivalry::loss::build(&section).unwrap();
/// assert!(rivalry::loss::build(&"type = 'dls'".parse().unwrap()).is_err());
/// ```
pub fn build(section: &toml::Table) -> Result<Box<dyn Loss>> {
    let (entry, params) = config::choose("loss", LOSSES, section)?;
    Ok((entry.build)(&params))
}
