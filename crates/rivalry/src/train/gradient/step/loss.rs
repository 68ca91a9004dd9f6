//! The loss of a batch and its gradients.

use super::buffers::Buffers;
use crate::loss::{BatchGradients, BatchScores, Loss, Phase, RowLoss};

impl Buffers {
    /// Computes the value of each row and the gradients of the scores.
    pub fn evaluate_loss(&mut self, loss: &dyn Loss, users: &[u32], phase: Phase) {
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
        let loss: &dyn RowLoss<f32> = loss;
        scores.evaluate(loss, phase, &mut self.measures, gradients);
    }

    /// The mean loss of the batch.
    pub fn mean_loss(&self) -> f64 {
        let total: f64 = self.values.iter().copied().map(f64::from).sum();
        total / self.values.len() as f64
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
