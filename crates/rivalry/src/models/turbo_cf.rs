//! Turbo-CF (Park, Shin and Shin, *Turbo-CF: matrix decomposition-free graph filtering for fast recommendation*, SIGIR
//! 2024): a low-pass filter on the graph of items, from sparse products alone. GF-CF needs a singular value decomposition.
//!
//! With `R̃ = D_U^-α R D_I^(α-1)`, the graph is `P = R̃ᵀR̃` with every element raised to the power s, and the scores of a
//! user are their interactions times P. This is the linear filter of the paper. Its filters of higher order multiply P by
//! itself, which is dense on real data.

use super::neighbours::{self, K, Pair, largest_weights, powers};
use super::{ClosedForm, Entry, FitContext, Kind};
use crate::Result;
use crate::data::Interactions;
use crate::params::{Param, Params, Range, Search, Value};
use crate::scorer::Scorer;
use crate::tensors::Tensors;

pub(super) const TURBO_CF: Entry = Entry {
    name: "turbo-cf",
    summary: "linear low-pass filter on the graph of items",
    params: &[NEIGHBOURS, ALPHA, POWER],
    build: Kind::ClosedForm(|params| Box::new(TurboCf::new(params))),
};

/// The published filter has the whole graph.
const NEIGHBOURS: Param = Param {
    doc: "edges that are kept for each item; 0 keeps all",
    default: Value::Count(0),
    range: Range::Within(0.0, 1e6),
    search: Search::NONE,
    ..K
};
const ALPHA: Param = Param {
    name: "alpha",
    doc: "exponent of the users' degrees in the normalisation; that of the items' degrees is 1 - alpha",
    default: Value::Number(0.5),
    range: Range::Within(0.0, 1.0),
    search: Search::uniform(&[0.3, 0.4, 0.5, 0.6, 0.7]),
};
const POWER: Param = Param {
    name: "power",
    doc: "exponent of the graph's edges",
    default: Value::Number(1.0),
    range: Range::Between(0.0, 10.0),
    search: Search::uniform(&[0.5, 0.7, 1.0, 1.3]),
};

struct TurboCf {
    k: usize,
    alpha: f64,
    power: f64,
}

impl TurboCf {
    fn new(params: &Params) -> Self {
        let k = Some(params.count(K.name)).filter(|&k| k > 0).unwrap_or(usize::MAX);
        Self { k, alpha: params.number(ALPHA.name), power: params.number(POWER.name) }
    }
}

impl ClosedForm for TurboCf {
    fn memory(&self, train: &Interactions) -> u64 {
        neighbours::memory(train, self.k)
    }

    fn memory_help(&self) -> &'static str {
        "set model.k to keep fewer edges, keep fewer items, or raise --max-memory"
    }

    fn fit(&self, train: &Interactions, context: &mut FitContext<'_>) -> Result<Option<Tensors>> {
        let items = powers(&train.transposed(), self.alpha - 1.0);
        let edge =
            |pair: Pair| (items[pair.from as usize] * pair.sum * items[pair.to as usize]).powf(self.power);
        let weights = largest_weights(train, &powers(train, -2.0 * self.alpha), self.k, edge, context);
        weights.map(|weights| neighbours::to_tensors(&weights)).transpose()
    }

    fn scorer(&self, tensors: &Tensors, train: &Interactions) -> Result<Box<dyn Scorer>> {
        neighbours::scorer(tensors, train)
    }
}
