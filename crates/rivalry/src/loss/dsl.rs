//! DSL, the dual-scale softmax loss, and its two ablations: the softmax loss with weighted negatives (κ) and
//! a temperature for each pair (competition-aware).

use super::Entry;
use super::competition::{ALPHA, Competition, SLATE};
use super::kappa::{BETA, DRIFT_CONTROL, KAPPA_MIN, Kappa};
use super::softmax::{Softmax, TAU};

pub(super) const DSL: Entry = Entry {
    name: "dsl",
    summary: "dual-scale softmax: negatives weighted by κ, a temperature for each pair",
    params: &[TAU, ALPHA, BETA, SLATE, KAPPA_MIN, DRIFT_CONTROL],
    build: |params| {
        Box::new(Softmax {
            tau: params.number(TAU.name),
            scale: Some(Kappa::new(params)),
            temperature: Some(Competition::new(params)),
        })
    },
};

pub(super) const DSL_KAPPA: Entry = Entry {
    name: "dsl-kappa",
    summary: "DSL's κ branch alone: negatives weighted by hardness and similarity",
    params: &[TAU, BETA, KAPPA_MIN, DRIFT_CONTROL],
    build: |params| {
        Box::new(Softmax { tau: params.number(TAU.name), scale: Some(Kappa::new(params)), temperature: None })
    },
};

pub(super) const DSL_CA: Entry = Entry {
    name: "dsl-ca",
    summary: "DSL's competition-aware branch alone: a temperature for each pair",
    params: &[TAU, ALPHA, SLATE],
    build: |params| {
        Box::new(Softmax {
            tau: params.number(TAU.name),
            scale: None,
            temperature: Some(Competition::new(params)),
        })
    },
};
