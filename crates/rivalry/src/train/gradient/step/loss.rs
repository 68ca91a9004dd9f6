//! The loss of a batch and its gradients.

use rayon::prelude::*;

use super::Batch;
use super::buffers::Buffers;
use super::scorer::LARGEST_COSINE;
use crate::loss::{
    BatchGradients, BatchScores, Catalogue, LogSumExpForm, LogSumExpGradient, Loss, Phase, ROWS, RowLoss,
};

impl Buffers {
    /// Measures every row, for losses that calibrate the measures of a batch.
    pub fn measure(&mut self, loss: &dyn Loss, users: &[u32]) {
        let (scores, measures, _) = self.places(loss, users);
        let loss: &dyn RowLoss<f32> = loss;
        scores.measure(loss, measures);
    }

    /// Computes the value of each row and the gradients of the scores, given the calibrated measures.
    pub fn evaluate_loss(&mut self, loss: &dyn Loss, users: &[u32], phase: Phase) {
        if let (Some(form), false) = (loss.log_sum_exp_form(), self.totals.is_empty()) {
            return self.evaluate_log_sum_exps(form, users);
        }
        let (scores, measures, gradients) = self.places(loss, users);
        let loss: &dyn RowLoss<f32> = loss;
        scores.gradients(loss, phase, measures, gradients);
    }

    /// The same where [`ExpScorer`](super::scorer::ExpScorer) has left exponentials in place of scores: multiplied by one factor per row, they become the
    /// gradients.
    fn evaluate_log_sum_exps(&mut self, form: &dyn LogSumExpForm, users: &[u32]) {
        let Self { totals, factors, positives, values, positive_grads, score_grads, .. } = self;
        let (sharpness, stride) = (form.sharpness() as f32, score_grads.stride());
        factors.resize(users.len(), 0.0);
        for (row, &user) in users.iter().enumerate() {
            // The bound was subtracted from the scores before they were exponentiated.
            let log_sum_exp = totals[row].ln() + sharpness * LARGEST_COSINE;
            let LogSumExpGradient { value, positive, log_sum_exp } =
                form.gradient(user, positives[row], log_sum_exp);
            (values[row], positive_grads[row]) = (value, positive);
            factors[row] = log_sum_exp * sharpness / totals[row];
        }
        let rows = score_grads.values_mut().par_chunks_mut(stride).zip(&*factors).with_min_len(ROWS);
        rows.for_each(|(grads, factor)| grads.iter_mut().for_each(|grad| *grad *= factor));
    }

    /// For each pair its user and the gradient of the user's learned quantile.
    pub fn quantile_gradients(&mut self, loss: &dyn Loss, batch: Batch<'_>) -> Vec<(u32, f32)> {
        let (scores, ..) = self.places(loss, batch.users);
        let loss: &dyn RowLoss<f32> = loss;
        let (items, train) = (batch.train.n_items(), batch.train);
        scores.quantile_gradients(loss, |user| Catalogue { items, positives: train.items_of(user).len() })
    }

    /// The scores of a batch, the measures of its rows, and where its gradients go.
    fn places<'a>(
        &'a mut self,
        loss: &dyn Loss,
        users: &'a [u32],
    ) -> (BatchScores<'a, f32>, &'a mut [f32], BatchGradients<'a, f32>) {
        let hardest = &mut self.hardest;
        let (n_negatives, stride) = match hardest.is_empty() {
            true => (self.scores.n(), self.scores.stride()),
            false => (hardest.n(users.len()), hardest.n(users.len())),
        };
        let (negatives, features, log_probs, grads) = match hardest.is_empty() {
            true => (
                self.scores.values(),
                self.features.values(),
                self.log_probs.values(),
                self.score_grads.values_mut(),
            ),
            false => {
                (&hardest.scores[..], &hardest.features[..], &hardest.log_probs[..], &mut hardest.grads[..])
            }
        };
        let positives = &self.positives;
        let slates = self.slates.get();
        let scores =
            BatchScores { users, positives, n_negatives, stride, negatives, features, log_probs, slates };
        let gradients = BatchGradients {
            values: &mut self.values,
            positives: &mut self.positive_grads,
            negatives: grads,
            n_params: loss.n_params(),
            params: &mut self.param_grads,
        };
        (scores, &mut self.measures, gradients)
    }

    /// The sum of the losses of all rows.
    pub fn loss_sum(&self) -> f64 {
        self.values.iter().copied().map(f64::from).sum()
    }

    /// What the rows add to the gradients of the mean loss over so many pairs with respect to the loss's `n` parameters.
    pub fn loss_param_grads(&self, n: usize, pairs: usize) -> Vec<f64> {
        let mut grads = vec![0.0; n];
        if n > 0 {
            for chunk in self.param_grads.chunks(n) {
                grads.iter_mut().zip(chunk).for_each(|(sum, g)| *sum += f64::from(*g) / pairs as f64);
            }
        }
        grads
    }
}
