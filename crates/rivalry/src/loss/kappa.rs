//! The κ branch: within one training pair, how much each negative competes.

use rivalry_kernels::Real;

use super::Row;
use crate::config::{Param, Params, Range, Value};

pub(super) const BETA: Param = Param {
    name: "beta",
    doc: "strength of the per-negative weights κ; 0 switches them off",
    default: Value::Number(1.0),
    range: Range::AtLeast(0.0),
    grid: &[1.0, 1.5, 2.0, 2.5, 3.0],
};
pub(super) const KAPPA_MIN: Param = Param {
    name: "kappa_min",
    doc: "floor of κ: with beta > 1 the formula gives easy negatives κ < 0",
    default: Value::Number(0.05),
    range: Range::Positive,
    grid: &[],
};
pub(super) const DRIFT_CONTROL: Param = Param {
    name: "drift_control",
    doc: "rescale κ so that the mean of 1/κ is one",
    default: Value::Flag(true),
    range: Range::Any,
    grid: &[],
};

/// Weights from how hard (score) and how similar to the positive each negative is.
///
/// With `s̄_j = (s_j + 1)/2`: `κ_j = exp(f_j + s̄_j) / mean exp(f + s̄)`, then `1 + β(κ_j - 1)`, then the floor,
/// then drift control `κ_j · mean(1/κ)`.
#[derive(Clone, Debug)]
pub(super) struct Kappa {
    beta: f64,
    floor: f64,
    drift_control: bool,
}

impl Kappa {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            beta: params.number(BETA.name),
            floor: params.number(KAPPA_MIN.name),
            drift_control: params.flag(DRIFT_CONTROL.name),
        }
    }

    pub(super) fn weights<T: Real>(&self, row: Row<'_, T>, out: &mut [T]) {
        let (beta, floor) = (T::of(self.beta), T::of(self.floor));
        T::kappa(row.negatives, row.companions, beta, floor, self.drift_control, out);
    }
}
