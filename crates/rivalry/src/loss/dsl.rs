//! DSL, the dual-scale softmax loss: the softmax loss with weighted negatives (κ) and a temperature for each pair
//! (competition-aware); its two ablations; and DSL@K, which adds the top-K weight.

use super::Entry;
use super::competition::{ALPHA, Competition, SLATE};
use super::kappa::{BETA, DRIFT_CONTROL, KAPPA_MIN, KAPPA_TAU, Kappa};
use super::softmax::{Softmax, TAU, Weight};
use super::top_k::{K, REFRESH_EVERY, TAU_W, TopK};
use crate::config::Params;

pub(super) const DSL: Entry = Entry {
    name: "dsl",
    summary: "dual-scale softmax: negatives weighted by κ, a temperature for each pair",
    params: &[TAU, ALPHA, BETA, SLATE, KAPPA_MIN, KAPPA_TAU, DRIFT_CONTROL],
    build: |params| Box::new(dsl(params)),
};

pub(super) const DSL_KAPPA: Entry = Entry {
    name: "dsl-kappa",
    summary: "DSL's κ branch alone: negatives weighted by hardness and similarity",
    params: &[TAU, BETA, KAPPA_MIN, KAPPA_TAU, DRIFT_CONTROL],
    build: |params| {
        Box::new(Softmax { scale: Some(Kappa::new(params)), ..Softmax::plain(params.number(TAU.name)) })
    },
};

pub(super) const DSL_CA: Entry = Entry {
    name: "dsl-ca",
    summary: "DSL's competition-aware branch alone: a temperature for each pair",
    params: &[TAU, ALPHA, SLATE],
    build: |params| {
        Box::new(Softmax {
            temperature: Some(Competition::new(params)),
            ..Softmax::plain(params.number(TAU.name))
        })
    },
};

pub(super) const DSL_AT_K: Entry = Entry {
    name: "dsl@k",
    summary: "DSL weighted towards pairs near the top K",
    params: &[TAU, ALPHA, BETA, SLATE, KAPPA_MIN, KAPPA_TAU, DRIFT_CONTROL, TAU_W, K, REFRESH_EVERY],
    build: |params| Box::new(Softmax { weight: Weight::TopK(TopK::new(params)), ..dsl(params) }),
};

fn dsl(params: &Params) -> Softmax {
    Softmax {
        scale: Some(Kappa::new(params)),
        temperature: Some(Competition::new(params)),
        ..Softmax::plain(params.number(TAU.name))
    }
}
