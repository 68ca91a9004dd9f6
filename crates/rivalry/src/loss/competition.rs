//! The competition-aware branch: how contested a training pair is sets its temperature.

use rivalry_kernels::Real;

use super::Row;
use crate::params::{Param, Params, Range, Search, Value};

pub(super) const ALPHA: Param = Param {
    name: "alpha",
    doc: "strength of the per-pair temperatures; 0 switches them off",
    default: Value::Number(1.0),
    range: Range::AtLeast(0.0),
    search: Search::uniform(&[0.5, 1.0, 2.0, 3.0, 4.0]).paper(&[1.0, 1.5, 2.0, 2.5, 3.0]),
};
pub(super) const SLATE: Param = Param {
    name: "slate",
    doc: "number of hardest negatives in the competitor slate",
    default: Value::Count(20),
    range: Range::AtLeast(1.0),
    search: Search::NONE,
};

/// Temperatures from the similarity of the hardest negatives to the positive.
///
/// Over the slate of the highest-scored negatives, `c = lse(f_j/τ + s̄_j) - lse(f_j/τ)`, in [0, 1].
/// Over the batch, `m = exp(α c) / mean exp(α c)`, and the pair's temperature is `τ/m`.
#[derive(Clone, Debug)]
pub(super) struct Competition {
    alpha: f64,
    slate: usize,
}

impl Competition {
    /// None if their strength is zero.
    pub(super) fn chosen(params: &Params) -> Option<Self> {
        let competition = Self { alpha: params.number(ALPHA.name), slate: params.count(SLATE.name) };
        (competition.alpha != 0.0).then_some(competition)
    }

    /// The number of negatives in the slate.
    pub(super) fn slate(&self) -> usize {
        self.slate
    }

    /// The pair's competition intensity c.
    pub(super) fn intensity<T: Real>(&self, row: Row<'_, T>, tau: T) -> T {
        T::top_k_log_mean_exp(row.negatives, row.features, tau, self.slate)
    }

    /// Turns the intensities of a batch into its temperature multipliers, in place.
    pub(super) fn multipliers<T: Real>(&self, intensities: &mut [T]) {
        let alpha = T::of(self.alpha);
        // Measured from the highest, no α can make the exponential overflow.
        let highest = intensities.iter().fold(T::neg_infinity(), |highest, c| highest.max(*c));
        let mut sum = 0.0;
        for x in intensities.iter_mut() {
            *x = (alpha * (*x - highest)).exp();
            sum += x.to_f64().unwrap_or(f64::NAN);
        }
        let mean = T::of(sum / intensities.len() as f64);
        for x in intensities {
            *x = *x / mean;
        }
    }
}
