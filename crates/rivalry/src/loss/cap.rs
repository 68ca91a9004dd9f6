//! CAP, competition-aware softmax with a tempered pull: `lse_j((f_j - γ f_i)/τ_ui)`, where τ_ui is DSL's temperature
//! by competition.
//!
//! The softmax loss draws every positive as strongly as it pushes all its negatives together, however well the two are
//! apart already. With γ < 1 the pull is the weaker of the two. It is our own, found by the search in
//! `docs/src/reproduction/next-loss.md`; with γ = 1 it is `dsl-ca`.

use super::competition::{ALPHA, Competition, SLATE};
use super::softmax::{LOG_Q, PULL, Softmax, TAU};
use super::{About, Build, Defaults, Entry};
use crate::params::{Param, Search, Value};

pub(super) const CAP: Entry = Entry {
    name: "cap",
    summary: "per-pair temperatures, and a positive term weaker than the negative one",
    params: &[
        TAU,
        Param { default: Value::Number(0.75), search: Search::uniform(&[0.6, 0.7, 0.8, 0.9, 1.0]), ..PULL },
        Param { default: Value::Number(3.0), ..ALPHA },
        SLATE,
        LOG_Q,
    ],
    build: Build {
        loss: |params| {
            Box::new(Softmax {
                pull: params.number(PULL.name),
                temperature: Competition::chosen(params),
                ..Softmax::plain(params)
            })
        },
        defaults: Defaults::COSINE,
        about: About {
            formula: "log Σ_j exp((f_j - γ f_i)/τ_ui)",
            use_when: "without a popularity prior: ahead of the others on sparse data, slightly behind `dsl-ca` and `sl` on MovieLens-100k. Not if many negatives are false",
        },
    },
};
