//! Inputs and comparisons that tests of several modules use.

use proptest::prelude::*;

use crate::Matrix;

/// A table of small integers: sums of their products are exact, so every order of summation agrees to the bit.
pub(crate) fn integers(rows: usize, cols: usize, seed: usize) -> Matrix {
    Matrix::from_fn(rows, cols, |r, c| ((r * 31 + c * 17 + seed * 7) % 13) as f32 - 6.0)
}

/// A table of fractions, whose sums round differently in every order and with or without fused multiply-add.
pub(crate) fn fractions(rows: usize, cols: usize, seed: usize) -> Matrix {
    Matrix::from_fn(rows, cols, |r, c| ((r * 131 + c * 17 + seed) as f32 * 0.37).sin())
}

pub(crate) fn widen(row: &[f32]) -> Vec<f64> {
    row.iter().map(|&x| x.into()).collect()
}

/// Whether `a` is as near to `b` as single precision can be expected to come, for values of this scale.
pub(crate) fn close(a: f32, b: f64, scale: f64) -> bool {
    (f64::from(a) - b).abs() <= 2e-5 * (b.abs() + scale)
}

prop_compose! {
    /// Scores and similarities of the same number of negatives, as cosines.
    pub(crate) fn score_rows()(n in 1usize..70)(
        scores in prop::collection::vec(-1.0f32..1.0, n),
        similarities in prop::collection::vec(-1.0f32..1.0, n),
    ) -> (Vec<f32>, Vec<f32>) {
        (scores, similarities)
    }
}
