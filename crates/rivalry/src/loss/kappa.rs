//! The κ branch: within one training pair, how much each negative competes.

use rivalry_kernels::Real;

use super::Row;
use crate::params::{Param, Params, Range, Search, Value};

pub(super) const BETA: Param = Param {
    name: "beta",
    doc: "strength of the per-negative weights κ; 0 switches them off",
    default: Value::Number(1.0),
    range: Range::AtLeast(0.0),
    search: Search::uniform(&[0.1, 0.5, 1.0]).paper(&[1.0, 1.5, 2.0, 2.5, 3.0]),
};
pub(super) const KAPPA_MIN: Param = Param {
    name: "kappa_min",
    doc: "lower bound of κ: with beta > 1 the formula gives easy negatives κ < 0",
    default: Value::Number(0.05),
    range: Range::Positive,
    search: Search::NONE,
};
pub(super) const KAPPA_TAU: Param = Param {
    name: "kappa_tau",
    doc: "temperature of the score inside κ (1 is the published formula)",
    default: Value::Number(1.0),
    range: Range::AtLeast(0.02), // below, exp leaves what f32 can hold
    search: Search::NONE,
};
pub(super) const DRIFT_CONTROL: Param = Param {
    name: "drift_control",
    doc: "rescale κ so that the mean of 1/κ is one",
    default: Value::Flag(true),
    range: Range::Any,
    search: Search::NONE,
};

/// Weights from how hard (score) and how similar to the positive each negative is.
///
/// With `s̄_j = (s_j + 1)/2`: `κ_j = exp(f_j/τ_κ + s̄_j) / mean exp(f/τ_κ + s̄)`, then `1 + β(κ_j - 1)`, then the
/// floor, then drift control `κ_j · mean(1/κ)`. τ_κ is one as published; with the loss's own τ, κ is that of the
/// scores after temperature.
#[derive(Clone, Debug)]
pub(super) struct Kappa {
    beta: f64,
    tau: f64,
    floor: f64,
    drift_control: bool,
}

impl Kappa {
    /// None if their strength is zero.
    pub(super) fn chosen(params: &Params) -> Option<Self> {
        let kappa = Self {
            beta: params.number(BETA.name),
            tau: params.number(KAPPA_TAU.name),
            floor: params.number(KAPPA_MIN.name),
            drift_control: params.flag(DRIFT_CONTROL.name),
        };
        (kappa.beta != 0.0).then_some(kappa)
    }

    pub(super) fn weights<T: Real>(&self, row: Row<'_, T>, out: &mut [T]) {
        let (beta, floor) = (T::of(self.beta), T::of(self.floor));
        let mut weights =
            |scores: &[T]| T::importance_weights(scores, row.features, beta, floor, self.drift_control, out);
        if self.tau == 1.0 {
            return weights(row.negatives);
        }
        let sharpness = T::of(1.0 / self.tau);
        T::with_buffer(row.negatives.len(), |scaled| {
            scaled.iter_mut().zip(row.negatives).for_each(|(scaled, &score)| *scaled = score * sharpness);
            weights(scaled);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temperature_inside_kappa_is_that_of_the_scores() {
        let (scores, similarities) = ([0.3f64, -0.8, 0.9, 0.1], [0.2, 0.5, -0.9, 1.0]);
        let weights = |tau: f64, negatives: &[f64]| {
            let mut out = [0.0; 4];
            let row = Row { user: 0, positive: 0.0, negatives, features: &similarities, log_probs: &[] };
            Kappa { beta: 1.5, tau, floor: 0.05, drift_control: true }.weights(row, &mut out);
            out
        };
        assert_eq!(weights(0.25, &scores), weights(1.0, &scores.map(|score| score * 4.0)));
        assert_ne!(weights(0.25, &scores), weights(1.0, &scores));
    }
}
