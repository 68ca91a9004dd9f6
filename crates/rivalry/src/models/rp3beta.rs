//! RP3β (Paudel et al., *Updatable, accurate, diverse, and scalable recommendations for interactive applications*, TiiS
//! 2017): the probability of a random walk of three steps from a user over their items to other items, divided by a power
//! of the popularity of where it ends.
//!
//! An item i of the user contributes `Σ_u (1/|U_i|)^α (1/|I_u|)^α / |U_j|^β` to the score of j, over the users of both.
//! With α = 1 and β = 0 these are the transition probabilities from i to j.

use super::neighbours::{self, K, Pair, largest_weights, powers};
use super::{ClosedForm, Entry, FitContext, Kind};
use crate::Result;
use crate::data::Interactions;
use crate::params::{Param, Params, Range, Search, Value};
use crate::scorer::Scorer;
use crate::tensors::Tensors;

pub(super) const RP3BETA: Entry = Entry {
    name: "rp3beta",
    summary: "three-step random walk on the graph of interactions, popular items damped",
    params: &[K, ALPHA, BETA],
    build: Kind::ClosedForm(|params| Box::new(Rp3Beta::new(params))),
};

const ALPHA: Param = Param {
    name: "alpha",
    doc: "exponent of the transition probabilities",
    default: Value::Number(0.6),
    range: Range::Within(0.0, 10.0),
    search: Search::uniform(&[0.2, 0.5, 0.8, 1.1]),
};
const BETA: Param = Param {
    name: "beta",
    doc: "exponent of the popularity that a score is divided by",
    default: Value::Number(0.4),
    range: Range::Within(0.0, 10.0),
    search: Search::uniform(&[0.0, 0.25, 0.5, 0.75]),
};

struct Rp3Beta {
    k: usize,
    alpha: f64,
    beta: f64,
}

impl Rp3Beta {
    fn new(params: &Params) -> Self {
        let [alpha, beta] = [ALPHA, BETA].map(|param| params.number(param.name));
        Self { k: params.count(K.name), alpha, beta }
    }
}

impl ClosedForm for Rp3Beta {
    fn memory(&self, train: &Interactions) -> u64 {
        neighbours::memory(train, self.k)
    }

    fn fit(&self, train: &Interactions, context: &mut FitContext<'_>) -> Result<Option<Tensors>> {
        let by_item = train.transposed();
        let (from, to) = (powers(&by_item, -self.alpha), powers(&by_item, -self.beta));
        let walk = |pair: Pair| from[pair.from as usize] * pair.sum * to[pair.to as usize];
        let weights = largest_weights(train, &powers(train, -self.alpha), self.k, walk, context);
        weights.map(|weights| neighbours::to_tensors(&weights)).transpose()
    }

    fn scorer(&self, tensors: &Tensors, train: &Interactions) -> Result<Box<dyn Scorer>> {
        neighbours::scorer(tensors, train)
    }
}
