//! The softmax family: `log Σ_j exp(κ_j (f_j - f_i) / τ_ui)`.
//!
//! Its members differ in two parts: the scale κ of each negative and the temperature of each pair.
//! Both are constants in the gradient:
//! `∂/∂f_j = q_j κ_j/τ_ui`, `∂/∂f_i = -Σ_j q_j κ_j/τ_ui` with `q = softmax(κ_j (f_j - f_i)/τ_ui)`.

use rivalry_kernels::Real;

use super::competition::Competition;
use super::kappa::Kappa;
use super::{Row, RowGradient, RowLoss};
use crate::config::{Param, Range, Value};

/// The temperature every member has.
pub(super) const TAU: Param = Param {
    name: "tau",
    doc: "temperature: small stresses the hardest negatives",
    default: Value::Number(0.2),
    range: Range::Positive,
    grid: &[0.005, 0.025, 0.05, 0.1, 0.2, 0.25],
};

/// A member of the family.
#[derive(Clone, Debug)]
pub(super) struct Softmax {
    pub tau: f64,
    pub scale: Option<Kappa>,
    pub temperature: Option<Competition>,
}

impl<T: Real> RowLoss<T> for Softmax {
    fn uses_similarities(&self) -> bool {
        self.scale.is_some() || self.temperature.is_some()
    }

    fn measure(&self, row: Row<'_, T>) -> T {
        match &self.temperature {
            Some(competition) => competition.intensity(row, T::of(self.tau)),
            None => T::one(),
        }
    }

    fn calibrate(&self, measures: &mut [T]) {
        if let Some(competition) = &self.temperature {
            competition.multipliers(measures);
        }
    }

    fn gradient(&self, row: Row<'_, T>, multiplier: T, grad: &mut [T]) -> RowGradient<T> {
        let sharpness = multiplier / T::of(self.tau);
        let (value, mass) = match &self.scale {
            Some(kappa) => T::with_buffer(row.negatives.len(), |weights| {
                kappa.weights(row, weights);
                T::softmax(row.positive, row.negatives, Some(weights), sharpness, grad)
            }),
            None => T::softmax(row.positive, row.negatives, None, sharpness, grad),
        };
        RowGradient { value, positive: -mass }
    }
}
