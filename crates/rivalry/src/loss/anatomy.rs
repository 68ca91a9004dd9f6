//! The inside of a loss, for whoever wants to look: read-only, in `f64`, and never part of a training.

use rivalry_kernels::Real;

use super::softmax::Softmax;
use super::{Gradients, Row, RowLoss, Turn, activation};

/// What a loss of the softmax family can tell of itself.
pub trait Anatomy {
    /// The temperature before any pair gets its own.
    fn tau(&self) -> f64;

    /// Whether each pair has a temperature of its own. Then [`measure`](RowLoss::measure) says how contested the
    /// pair is, and what it is calibrated to divides the temperature.
    fn is_adaptive(&self) -> bool;

    /// What the loss makes of one row, given what the batch made of its measure.
    fn dissect(&self, row: Row<'_, f64>, calibrated: f64) -> Dissected;
}

/// One row, taken apart: `log Σ_j exp(κ_j φ_j / τ_ui)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Dissected {
    /// The scale κ of each negative; none if all have the same.
    pub scales: Option<Vec<f64>>,
    /// The pair's temperature τ_ui.
    pub temperature: f64,
    /// `κ_j φ_j` of each negative.
    pub heights: Vec<f64>,
    /// `τ_ui log mean_j exp(κ_j φ_j / τ_ui)`: between the mean of the heights and the highest.
    pub soft_maximum: f64,
    /// The weights `q = softmax(κ_j φ_j / τ_ui)` of the negatives; they sum to one.
    pub weights: Vec<f64>,
    /// The share of each negative in the gradient of the row; they sum to one, or are all zero where nothing flows.
    pub shares: Vec<f64>,
}

impl Anatomy for Softmax {
    fn tau(&self) -> f64 {
        self.tau
    }

    fn is_adaptive(&self) -> bool {
        self.temperature.is_some()
    }

    fn dissect(&self, row: Row<'_, f64>, calibrated: f64) -> Dissected {
        let n = row.negatives.len();
        let temperature = self.tau / calibrated;
        let positive = self.pull * row.positive;
        let mut heights: Vec<f64> = match self.activation {
            None => row.negatives.iter().map(|score| score - positive).collect(),
            Some(activation) => {
                activation::with_logits(activation, positive, row.negatives, |logits, _| logits.to_vec())
            }
        };
        let scales = self.scale.as_ref().map(|kappa| {
            let mut scales = vec![0.0; n];
            kappa.weights(row, &mut scales);
            heights.iter_mut().zip(&scales).for_each(|(height, scale)| *height *= scale);
            scales
        });
        let mut weights = vec![0.0; n];
        let (log_sum, mass) = f64::softmax(0.0, &heights, None, None, temperature.recip(), 1.0, &mut weights);
        weights.iter_mut().for_each(|weight| *weight /= mass);
        let mut shares = vec![0.0; n];
        let places = Gradients { negatives: &mut shares, own: &mut [] };
        self.gradient(Turn::Model, row, calibrated, places);
        let total: f64 = shares.iter().sum();
        if total > 0.0 {
            shares.iter_mut().for_each(|share| *share /= total);
        }
        let soft_maximum = temperature * (log_sum - (n as f64).ln());
        Dissected { scales, temperature, heights, soft_maximum, weights, shares }
    }
}
