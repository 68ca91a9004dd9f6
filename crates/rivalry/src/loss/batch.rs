//! Both passes of a loss over the rows of a batch.

use rayon::prelude::*;
use rivalry_kernels::Real;

use super::{Catalogue, GradientBuffers, Phase, Row, RowLoss};

/// Rows that a task works on at a time. Gradients of the loss's parameters are first summed within so many rows, so
/// their bits don't depend on the number of threads.
pub(crate) const ROWS: usize = 32;

/// The scores of a batch: rows of `n_negatives` values, of which each starts `stride` after the one before.
#[derive(Clone, Copy, Debug)]
pub struct BatchScores<'a, T> {
    /// The user of each row.
    pub users: &'a [u32],
    /// The score of each row's positive item.
    pub positives: &'a [T],
    /// The number of negatives of a row.
    pub n_negatives: usize,
    /// The distance of two rows in the slices below, and in [`BatchGradients::negatives`]: at least `n_negatives`.
    pub stride: usize,
    /// Scores of the negatives.
    pub negatives: &'a [T],
    /// For each negative the feature that the loss asks for; empty if none.
    pub features: &'a [T],
    /// For each negative the log-probability with which it was drawn, if the loss asks for it; otherwise empty.
    pub log_probs: &'a [T],
    /// The negatives that the first pass sees, if not all of them ([`Loss::slate`](super::Loss::slate)).
    pub slates: Option<BatchSlates<'a, T>>,
}

/// Some negatives of each row of a batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchSlates<'a, T> {
    /// The number of negatives in a slate.
    pub n: usize,
    /// Their scores.
    pub scores: &'a [T],
    /// Their features.
    pub features: &'a [T],
}

/// Where the values and gradients of a batch go.
#[derive(Debug)]
pub struct BatchGradients<'a, T> {
    /// The value of each row.
    pub values: &'a mut [T],
    /// Gradients with respect to the positives' scores.
    pub positives: &'a mut [T],
    /// Gradients with respect to the negatives' scores.
    pub negatives: &'a mut [T],
    /// The number of parameters of the loss.
    pub n_params: usize,
    /// [`param_places`](Self::param_places) places for gradients with respect to these: `n_params` for each chunk of
    /// rows, to be added up.
    pub params: &'a mut [T],
}

impl<T> BatchGradients<'_, T> {
    /// The length of [`params`](Self::params) for so many rows.
    pub fn param_places(rows: usize, n_params: usize) -> usize {
        // A loss without parameters still gets one place a chunk, so that the chunks can be paired up.
        rows.div_ceil(ROWS) * n_params.max(1)
    }
}

impl<'a, T: Real> BatchScores<'a, T> {
    fn row(self, row: usize) -> Row<'a, T> {
        let (n, start) = (self.n_negatives, row * self.stride);
        let of_row = |values: &'a [T]| if values.is_empty() { values } else { &values[start..][..n] };
        Row {
            user: self.users[row],
            positive: self.positives[row],
            negatives: of_row(self.negatives),
            features: of_row(self.features),
            log_probs: of_row(self.log_probs),
        }
    }

    /// A row as the first pass sees it.
    fn measured_row(self, row: usize) -> Row<'a, T> {
        let Some(BatchSlates { n, scores, features }) = self.slates else { return self.row(row) };
        let (negatives, features) = (&scores[row * n..][..n], &features[row * n..][..n]);
        Row { user: self.users[row], positive: self.positives[row], negatives, features, log_probs: &[] }
    }

    /// Measures every row, calibrates the measures, and computes the value of each row and the gradients of the sum of
    /// the values. `measures`, one for each row, are overwritten.
    pub fn evaluate<L: RowLoss<T> + ?Sized>(
        self,
        loss: &L,
        phase: Phase,
        measures: &mut [T],
        gradients: BatchGradients<'_, T>,
    ) {
        self.measure(loss, measures);
        if loss.has_measure() {
            loss.calibrate(measures);
        }
        self.gradients(loss, phase, measures, gradients);
    }

    /// The first pass: measures every row. Then the loss calibrates the measures of the whole batch.
    pub fn measure<L: RowLoss<T> + ?Sized>(self, loss: &L, measures: &mut [T]) {
        measures.fill(T::one());
        if loss.has_measure() {
            measures.par_iter_mut().enumerate().with_min_len(ROWS).for_each(|(row, measure)| {
                *measure = loss.measure(self.measured_row(row));
            });
        }
    }

    /// For each row its user and the gradient of the user's learned quantile.
    pub fn quantile_gradients<L: RowLoss<T> + ?Sized>(
        self,
        loss: &L,
        catalogue: impl Fn(u32) -> Catalogue + Sync,
    ) -> Vec<(u32, T)> {
        let of_row = |row: usize| {
            let row = self.row(row);
            (row.user, loss.quantile_gradient(row, catalogue(row.user)))
        };
        (0..self.users.len()).into_par_iter().with_min_len(ROWS).map(of_row).collect()
    }

    /// The second pass: the value of each row and the gradients of the sum of the values, given calibrated measures.
    pub fn gradients<L: RowLoss<T> + ?Sized>(
        self,
        loss: &L,
        phase: Phase,
        measures: &[T],
        gradients: BatchGradients<'_, T>,
    ) {
        let BatchGradients { values, positives, negatives, n_params, params } = gradients;
        let (n, stride) = (self.n_negatives, self.stride);
        negatives
            .par_chunks_mut(ROWS * stride)
            .zip(values.par_chunks_mut(ROWS))
            .zip(positives.par_chunks_mut(ROWS))
            .zip(params.par_chunks_mut(n_params.max(1)))
            .enumerate()
            .for_each(|(chunk, (((negatives, values), positives), params))| {
                params.fill(T::zero());
                let rows = negatives.chunks_exact_mut(stride).zip(values).zip(positives);
                for (row, ((negatives, value), positive)) in (chunk * ROWS..).zip(rows) {
                    let negatives = &mut negatives[..n];
                    let places = GradientBuffers { negatives, params: &mut params[..n_params] };
                    let outcome = loss.gradient(phase, self.row(row), measures[row], places);
                    (*value, *positive) = (outcome.value, outcome.positive);
                }
            });
    }
}
