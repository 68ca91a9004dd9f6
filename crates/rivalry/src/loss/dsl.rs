//! DSL, the dual-scale softmax loss: the softmax loss with weighted negatives (κ) and a temperature for each pair
//! (competition-aware); its two ablations; and DSL@K, which adds the top-K weight.

use super::competition::{ALPHA, Competition, SLATE};
use super::kappa::{BETA, DRIFT_CONTROL, KAPPA_MIN, KAPPA_TAU, Kappa};
use super::softmax::{LOG_Q, Softmax, TAU, Weight};
use super::top_k::{K, REFRESH_EVERY, TAU_W, TopKWeight};
use super::{Build, Defaults, Entry};
use crate::params::Params;

pub(super) const DSL: Entry = Entry {
    name: "dsl",
    summary: "dual-scale softmax: negatives weighted by κ, a temperature for each pair",
    params: &[TAU, ALPHA, BETA, SLATE, KAPPA_MIN, KAPPA_TAU, DRIFT_CONTROL, LOG_Q],
    build: Build { loss: |params| Box::new(dsl(params)), defaults: Defaults::COSINE },
};

pub(super) const DSL_KAPPA: Entry = Entry {
    name: "dsl-kappa",
    summary: "DSL's κ branch alone: negatives weighted by hardness and similarity",
    params: &[TAU, BETA, KAPPA_MIN, KAPPA_TAU, DRIFT_CONTROL, LOG_Q],
    build: Build {
        loss: |params| Box::new(Softmax { scale: Some(Kappa::new(params)), ..Softmax::plain(params) }),
        defaults: Defaults::COSINE,
    },
};

pub(super) const DSL_CA: Entry = Entry {
    name: "dsl-ca",
    summary: "DSL's competition-aware branch alone: a temperature for each pair",
    params: &[TAU, ALPHA, SLATE, LOG_Q],
    build: Build {
        loss: |params| {
            Box::new(Softmax { temperature: Some(Competition::new(params)), ..Softmax::plain(params) })
        },
        defaults: Defaults::COSINE,
    },
};

pub(super) const DSL_AT_K: Entry = Entry {
    name: "dsl@k",
    summary: "DSL weighted towards pairs near the top K",
    params: &[TAU, ALPHA, BETA, SLATE, KAPPA_MIN, KAPPA_TAU, DRIFT_CONTROL, TAU_W, K, REFRESH_EVERY, LOG_Q],
    build: Build {
        loss: |params| Box::new(Softmax { weight: Weight::TopK(TopKWeight::new(params)), ..dsl(params) }),
        defaults: Defaults::COSINE,
    },
};

fn dsl(params: &Params) -> Softmax {
    Softmax {
        scale: Some(Kappa::new(params)),
        temperature: Some(Competition::new(params)),
        ..Softmax::plain(params)
    }
}
