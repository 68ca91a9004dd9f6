//! Learning-rate schedules.
//!
//! Cosine decay: I. Loshchilov and F. Hutter, SGDR: Stochastic Gradient Descent with Warm Restarts, ICLR 2017 (without
//! restarts).

use std::f64::consts::PI;

use crate::params::{Param, Params, Range, Search, Value};

pub(crate) const SCHEDULE: Param = Param {
    name: "schedule",
    doc: "learning-rate schedule over all epochs: constant, linear or cosine decay to 0",
    default: Value::Choice("constant"),
    range: Range::OneOf(&["constant", "linear", "cosine"]),
    search: Search::NONE,
};

pub(crate) const WARMUP: Param = Param {
    name: "warmup",
    doc: "fraction of the training over which the learning rate rises linearly to its full value",
    default: Value::Number(0.0),
    range: Range::BelowOne,
    search: Search::NONE,
};

/// The factor of the learning rate at each point of a training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    decay: Decay,
    warmup: f64,
    /// Batches of the whole training.
    total: f64,
    /// Batches of an epoch.
    epoch: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Decay {
    Constant,
    Linear,
    Cosine,
}

impl Schedule {
    /// The schedule of an `[optim]` section for a training of so many epochs.
    pub(crate) fn new(params: &Params, epochs: usize, batches: usize) -> Self {
        let decay = match params.choice(SCHEDULE.name) {
            "linear" => Decay::Linear,
            "cosine" => Decay::Cosine,
            _ => Decay::Constant,
        };
        let warmup = params.number(WARMUP.name);
        Self { decay, warmup, total: (epochs * batches) as f64, epoch: batches as f64 }
    }

    /// A factor of one throughout.
    pub(crate) const CONSTANT: Self = Self { decay: Decay::Constant, warmup: 0.0, total: 1.0, epoch: 1.0 };

    /// Whether the factor depends on the number of epochs.
    pub(crate) fn is_constant(self) -> bool {
        self == Self { decay: Decay::Constant, warmup: 0.0, ..self }
    }

    /// The factor in a batch of an epoch, both counted from 0.
    pub(crate) fn factor(self, epoch: usize, batch: usize) -> f64 {
        let done = epoch as f64 * self.epoch + batch as f64;
        let warmup = self.warmup * self.total;
        if done < warmup {
            return (done + 1.0).min(warmup) / warmup;
        }
        let progress = ((done - warmup) / (self.total - warmup)).min(1.0);
        match self.decay {
            Decay::Constant => 1.0,
            Decay::Linear => 1.0 - progress,
            Decay::Cosine => 0.5 * (1.0 + (PI * progress).cos()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(decay: Decay, warmup: f64) -> Schedule {
        Schedule { decay, warmup, total: 40.0, epoch: 10.0 }
    }

    #[test]
    fn decays_go_from_one_to_zero() {
        for (decay, middle) in [(Decay::Linear, 0.5), (Decay::Cosine, 0.5), (Decay::Constant, 1.0)] {
            let schedule = schedule(decay, 0.0);
            let factors: Vec<f64> = (0..40).map(|t| schedule.factor(t / 10, t % 10)).collect();
            assert_eq!(factors[0], 1.0);
            assert!((factors[20] - middle).abs() < 1e-12, "{decay:?}");
            assert!(factors.is_sorted_by(|a, b| a >= b), "{decay:?}");
            assert!(decay == Decay::Constant || (factors[39] > 0.0 && factors[39] < 0.03), "{decay:?}");
            assert!(schedule.factor(7, 0) >= 0.0, "beyond the end");
        }
    }

    #[test]
    fn a_warm_up_rises_to_one() {
        let schedule = schedule(Decay::Cosine, 0.25);
        let factors: Vec<f64> = (0..11).map(|t| schedule.factor(t / 10, t % 10)).collect();
        for (t, factor) in factors.iter().enumerate().take(10) {
            assert!((factor - (t + 1) as f64 / 10.0).abs() < 1e-12);
        }
        assert_eq!(factors[10], 1.0);
        assert!(!schedule.is_constant() && Schedule::CONSTANT.is_constant());
    }
}
