//! The two passes of the loss over the rows of a batch.

use rayon::prelude::*;

use super::buffers::{Buffers, ROWS};
use crate::loss::{GradientBuffers, Loss, Phase, Row, RowLoss};

/// The negatives of all rows, as the loss sees them.
#[derive(Clone, Copy)]
pub(super) struct Negatives<'a> {
    pub scores: &'a [f32],
    features: &'a [f32],
    log_probs: &'a [f32],
}

impl<'a> Negatives<'a> {
    fn row(self, users: &[u32], row: usize, positive: f32) -> Row<'a, f32> {
        let n = self.scores.len() / users.len();
        let of_row = |values: &'a [f32]| if values.is_empty() { values } else { &values[row * n..][..n] };
        Row {
            user: users[row],
            positive,
            negatives: of_row(self.scores),
            features: of_row(self.features),
            log_probs: of_row(self.log_probs),
        }
    }
}

impl Buffers {
    /// The candidates, or the hardest of them where only these are kept.
    pub fn negatives(&self) -> Negatives<'_> {
        match self.hardest.is_empty() {
            true => Negatives { scores: &self.scores, features: &self.features, log_probs: &self.log_probs },
            false => Negatives {
                scores: &self.hardest.scores,
                features: &self.hardest.features,
                log_probs: &self.hardest.log_probs,
            },
        }
    }

    /// The first pass: each row's measure, and what the batch makes of them.
    pub fn measure(&mut self, loss: &dyn Loss, users: &[u32]) {
        let loss: &dyn RowLoss<f32> = loss;
        let mut measures = std::mem::take(&mut self.measures);
        let (negatives, positives) = (self.negatives(), &self.positives);
        measures.par_iter_mut().enumerate().with_min_len(ROWS).for_each(|(row, measure)| {
            *measure = loss.measure(negatives.row(users, row, positives[row].score));
        });
        loss.calibrate(&mut measures);
        self.measures = measures;
    }

    /// The second pass: values, and gradients of the scores.
    pub fn differentiate(&mut self, loss: &dyn Loss, users: &[u32], phase: Phase) {
        let n_params = loss.n_params();
        let loss: &dyn RowLoss<f32> = loss;
        let hardest = !self.hardest.is_empty();
        let mut grads = std::mem::take(if hardest { &mut self.hardest.grads } else { &mut self.score_grads });
        let mut positives = std::mem::take(&mut self.positives);
        let (mut positive_grads, mut param_grads) =
            (std::mem::take(&mut self.positive_grads), std::mem::take(&mut self.param_grads));
        let (negatives, measures) = (self.negatives(), &self.measures);
        let n = grads.len() / users.len();
        grads
            .par_chunks_mut(ROWS * n)
            .zip(positives.par_chunks_mut(ROWS))
            .zip(positive_grads.par_chunks_mut(ROWS))
            .zip(param_grads.par_chunks_mut(n_params.max(1)))
            .enumerate()
            .for_each(|(chunk, (((grads, positives), positive_grads), param_grads))| {
                param_grads.fill(0.0);
                let rows = grads.chunks_exact_mut(n).zip(positives).zip(positive_grads);
                for (r, ((grads, positive), positive_grad)) in rows.enumerate() {
                    let row = chunk * ROWS + r;
                    let seen = negatives.row(users, row, positive.score);
                    let places = GradientBuffers { negatives: grads, params: &mut param_grads[..n_params] };
                    let outcome = loss.gradient(phase, seen, measures[row], places);
                    (positive.value, *positive_grad) = (outcome.value, outcome.positive);
                }
            });
        *(if hardest { &mut self.hardest.grads } else { &mut self.score_grads }) = grads;
        (self.positives, self.positive_grads, self.param_grads) = (positives, positive_grads, param_grads);
    }

    /// The mean loss of the batch.
    pub fn mean_loss(&self) -> f64 {
        let total: f64 = self.positives.iter().map(|row| f64::from(row.value)).sum();
        total / self.positives.len() as f64
    }

    /// Gradients of the mean loss with respect to the loss's `n` parameters.
    pub fn loss_param_grads(&self, n: usize) -> Vec<f64> {
        let mut grads = vec![0.0; n];
        if n > 0 {
            let rows = self.positives.len() as f64;
            for chunk in self.param_grads.chunks(n) {
                grads.iter_mut().zip(chunk).for_each(|(sum, g)| *sum += f64::from(*g) / rows);
            }
        }
        grads
    }
}
