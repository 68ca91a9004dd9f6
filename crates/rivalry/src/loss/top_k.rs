//! The top-K weight of SL@K: pairs near or above their user's K-th best score count more.

use rivalry_kernels::Real;

use super::State;
use crate::params::{Param, Params, Range, Search, Value};

pub(super) const TAU_W: Param = Param {
    name: "tau_w",
    doc: "temperature of the top-K weight",
    default: Value::Number(1.0),
    range: Range::Positive,
    search: Search::uniform(&[0.5, 1.0, 1.5, 2.0, 2.5, 3.0])
        .paper(&[0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0]),
};
pub(super) const K: Param = Param {
    name: "k",
    doc: "the K of the top-K weight",
    default: Value::Count(20),
    range: Range::AtLeast(1.0),
    search: Search::NONE,
};
pub(super) const REFRESH_EVERY: Param = Param {
    name: "refresh_every",
    doc: "epochs between updates of the per-user quantiles (T_β)",
    default: Value::Count(20),
    range: Range::AtLeast(1.0),
    search: Search::listed(&[5.0, 20.0]).paper(&[5.0, 20.0]),
};

/// `σ((f_i - β_u)/τ_w)`, where β_u estimates the user's K-th highest score. It starts at 0.
#[derive(Clone, Debug)]
pub(super) struct TopKWeight {
    tau: f64,
    k: usize,
    refresh_every: usize,
    quantiles: Vec<f32>,
}

impl TopKWeight {
    pub fn new(params: &Params) -> Self {
        Self {
            tau: params.number(TAU_W.name),
            k: params.count(K.name),
            refresh_every: params.count(REFRESH_EVERY.name),
            quantiles: Vec::new(),
        }
    }

    /// The weight of a pair and its slope in the pair's score.
    pub fn weight<T: Real>(&self, user: u32, positive: T) -> (T, T) {
        let quantile = self.quantiles.get(user as usize).copied().unwrap_or(0.0);
        let tau = T::of(self.tau);
        let weight = (T::one() + (-(positive - T::of(quantile.into())) / tau).exp()).recip();
        (weight, weight * (T::one() - weight) / tau)
    }

    pub fn rank(&self, epoch: usize) -> Option<usize> {
        (epoch + 1).is_multiple_of(self.refresh_every).then_some(self.k)
    }

    pub fn set(&mut self, user: u32, value: f32) {
        let user = user as usize;
        if self.quantiles.len() <= user {
            self.quantiles.resize(user + 1, 0.0);
        }
        self.quantiles[user] = value;
    }

    pub fn state(&self) -> State {
        State::from([("quantiles".to_owned(), self.quantiles.iter().map(|&x| x.into()).collect())])
    }

    pub fn restore(&mut self, state: &State) -> bool {
        let Some(quantiles) = state.get("quantiles") else { return false };
        self.quantiles = quantiles.iter().map(|&x| x as f32).collect();
        true
    }
}
