//! Internals of the softmax family, in `f64`, for `rivalry inspect`; never part of a training.

use rivalry_kernels::Real;

use super::softmax::Softmax;
use super::{GradientBuffers, Phase, Row, RowLoss, activation};

/// The internals of a loss of the softmax family.
pub trait Diagnostics {
    /// The base temperature.
    fn tau(&self) -> f64;

    /// Whether each pair has a temperature of its own. Then [`measure`](RowLoss::measure) is the competition intensity of
    /// the pair, and what it is calibrated to divides the temperature.
    fn is_adaptive(&self) -> bool;

    /// The internals of one row, given its calibrated measure.
    fn diagnose(&self, row: Row<'_, f64>, calibrated: f64) -> RowDiagnostics;
}

/// The internals of one row: `log Σ_j exp(κ_j φ_j / τ_ui)`.
#[derive(Clone, Debug, PartialEq)]
pub struct RowDiagnostics {
    /// The scale κ of each negative; none if all have the same.
    pub scales: Option<Vec<f64>>,
    /// The pair's temperature τ_ui.
    pub temperature: f64,
    /// `κ_j φ_j` of each negative.
    pub logits: Vec<f64>,
    /// `τ_ui log mean_j exp(κ_j φ_j / τ_ui)`: between the mean of the logits and the highest.
    pub soft_maximum: f64,
    /// The weights `q = softmax(κ_j φ_j / τ_ui)` of the negatives; they sum to one.
    pub weights: Vec<f64>,
    /// The share of each negative in the gradient of the row; they sum to one, or are all zero where nothing flows.
    pub shares: Vec<f64>,
}

impl Diagnostics for Softmax {
    fn tau(&self) -> f64 {
        self.tau
    }

    fn is_adaptive(&self) -> bool {
        self.temperature.is_some()
    }

    fn diagnose(&self, row: Row<'_, f64>, calibrated: f64) -> RowDiagnostics {
        let n = row.negatives.len();
        let temperature = self.tau / calibrated;
        let positive = self.pull * row.positive;
        let mut logits: Vec<f64> = match self.activation {
            None => row.negatives.iter().map(|score| score - positive).collect(),
            Some(activation) => {
                activation::with_logits(activation, positive, row.negatives, |logits, _| logits.to_vec())
            }
        };
        let scales = self.scale.as_ref().map(|kappa| {
            let mut scales = vec![0.0; n];
            kappa.weights(row, &mut scales);
            logits.iter_mut().zip(&scales).for_each(|(logit, scale)| *logit *= scale);
            scales
        });
        for (logit, log_prob) in logits.iter_mut().zip(row.log_probs) {
            *logit -= temperature * log_prob;
        }
        let mut weights = vec![0.0; n];
        let (log_sum, mass) =
            f64::log_sum_exp(0.0, &logits, None, None, temperature.recip(), 1.0, &mut weights);
        weights.iter_mut().for_each(|weight| *weight /= mass);
        let mut shares = vec![0.0; n];
        let places = GradientBuffers { negatives: &mut shares, params: &mut [] };
        self.gradient(Phase::Model, row, calibrated, places);
        let total: f64 = shares.iter().sum();
        if total > 0.0 {
            shares.iter_mut().for_each(|share| *share /= total);
        }
        let soft_maximum = temperature * (log_sum - (n as f64).ln());
        RowDiagnostics { scales, temperature, logits, soft_maximum, weights, shares }
    }
}
