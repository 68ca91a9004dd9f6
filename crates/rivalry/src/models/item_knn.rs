//! Item kNN: an item's nearest neighbours by the users they have in common. Weightings and their parameters are those of
//! `implicit`:
//!
//! - `cosine`: the cosine of the items' columns;
//! - `tfidf`: the same with each user weighted by `idf_u = ln |I| - ln(1 + |I_u|)`;
//! - `bm25`: `g_i g_j Σ_u idf_u²` with `g_i = (k1 + 1) / (k1 (1 - b + b |U_i| / mean |U|) + 1)`.
//!
//! `shrinkage` h multiplies a similarity by `c / (c + h)`, where c is the number of users of both items (Bell and Koren,
//! 2007): pairs with few users in common count less.

use super::neighbours::{self, K, Pair, largest_weights, powers};
use super::{ClosedForm, Entry, FitContext, Kind};
use crate::Result;
use crate::data::Interactions;
use crate::params::{Param, Params, Range, Search, Value};
use crate::scorer::Scorer;
use crate::tensors::Tensors;

pub(super) const ITEM_KNN: Entry = Entry {
    name: "item-knn",
    summary: "item nearest neighbours by cosine, TF-IDF or BM25",
    params: &[K, WEIGHTING, SHRINKAGE, K1, B],
    build: Kind::ClosedForm(|params| Box::new(ItemKnn::new(params))),
};

const WEIGHTING: Param = Param {
    name: "weighting",
    doc: "weighting of the interactions",
    default: Value::Choice("cosine"),
    range: Range::OneOf(&["cosine", "tfidf", "bm25"]),
    search: Search::NAMES,
};
const SHRINKAGE: Param = Param {
    name: "shrinkage",
    doc: "users in common at which a similarity counts half",
    default: Value::Number(10.0),
    range: Range::AtLeast(0.0),
    search: Search::listed(&[0.0, 3.0, 10.0, 30.0, 100.0]),
};
const K1: Param = Param {
    name: "k1",
    doc: "K1 of BM25: how much the popularity of an item counts",
    default: Value::Number(1.2),
    range: Range::AtLeast(0.0),
    search: Search::NONE,
};
const B: Param = Param {
    name: "b",
    doc: "B of BM25: how far it is normalised by popularity",
    default: Value::Number(0.75),
    range: Range::Within(0.0, 1.0),
    search: Search::NONE,
};

struct ItemKnn {
    k: usize,
    weighting: &'static str,
    shrinkage: f64,
    k1: f64,
    b: f64,
}

impl ItemKnn {
    fn new(params: &Params) -> Self {
        Self {
            k: params.count(K.name),
            weighting: params.choice(WEIGHTING.name),
            shrinkage: params.number(SHRINKAGE.name),
            k1: params.number(K1.name),
            b: params.number(B.name),
        }
    }

    /// The weight of each user.
    fn user_weights(&self, train: &Interactions) -> Vec<f64> {
        let idf = |user: u32| (train.n_items() as f64).ln() - (train.items_of(user).len() as f64).ln_1p();
        (0..train.n_users() as u32)
            .map(|user| if self.weighting == "cosine" { 1.0 } else { idf(user).powi(2) })
            .collect()
    }

    /// The factor of each item.
    fn item_factors(&self, by_item: &Interactions, user_weights: &[f64]) -> Vec<f64> {
        match self.weighting {
            "bm25" => {
                let mean = by_item.len() as f64 / by_item.n_users().max(1) as f64;
                let factor = |count: f64| {
                    let length = 1.0 - self.b + self.b * count / mean;
                    (self.k1 + 1.0) / (self.k1 * length + 1.0)
                };
                powers(by_item, 1.0).into_iter().map(factor).collect()
            }
            _ => {
                let norm = |item: u32| -> f64 {
                    by_item.items_of(item).iter().map(|&user| user_weights[user as usize]).sum()
                };
                let inverse = |norm: f64| if norm > 0.0 { 1.0 / norm.sqrt() } else { 0.0 };
                (0..by_item.n_users() as u32).map(|item| inverse(norm(item))).collect()
            }
        }
    }
}

impl ClosedForm for ItemKnn {
    fn memory(&self, train: &Interactions) -> u64 {
        neighbours::memory(train, self.k)
    }

    fn fit(&self, train: &Interactions, context: &mut FitContext<'_>) -> Result<Option<Tensors>> {
        let user_weights = self.user_weights(train);
        let factors = self.item_factors(&train.transposed(), &user_weights);
        let similarity = |pair: Pair| {
            let shrunk = f64::from(pair.users) / (f64::from(pair.users) + self.shrinkage);
            pair.sum * factors[pair.from as usize] * factors[pair.to as usize] * shrunk
        };
        let weights = largest_weights(train, &user_weights, self.k, similarity, context);
        weights.map(|weights| neighbours::to_tensors(&weights)).transpose()
    }

    fn scorer(&self, tensors: &Tensors, train: &Interactions) -> Result<Box<dyn Scorer>> {
        neighbours::scorer(tensors, train)
    }
}
