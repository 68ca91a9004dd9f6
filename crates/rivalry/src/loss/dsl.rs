//! DSL, the dual-scale softmax loss: the softmax loss with weighted negatives (κ) and a temperature for each pair
//! (competition-aware); its two ablations; and DSL@K, which adds the top-K weight.

use super::competition::{ALPHA, Competition, SLATE};
use super::kappa::{BETA, DRIFT_CONTROL, KAPPA_MIN, KAPPA_TAU, Kappa};
use super::softmax::{LOG_Q, Softmax, TAU, Weight};
use super::top_k::{K, REFRESH_EVERY, TAU_W, TopKWeight};
use super::{About, Build, Defaults, Entry};
use crate::params::Params;

pub(super) const DSL: Entry = Entry {
    name: "dsl",
    summary: "dual-scale softmax: negatives weighted by κ, a temperature for each pair",
    params: &[TAU, ALPHA, BETA, SLATE, KAPPA_MIN, KAPPA_TAU, DRIFT_CONTROL, LOG_Q],
    build: Build {
        loss: |params| Box::new(dsl(params)),
        defaults: Defaults::COSINE,
        about: About {
            formula: "log Σ_j exp(κ_j (f_j - f_i)/τ_ui), with κ_j by hardness and similarity, and τ_ui by competition",
            use_when: "to compare with the paper it is from. Its published gain over SL did not reproduce; `dsl-ca`, one of its two branches, does gain",
        },
    },
};

pub(super) const DSL_KAPPA: Entry = Entry {
    name: "dsl-kappa",
    summary: "DSL's κ branch alone: negatives weighted by hardness and similarity",
    params: &[TAU, BETA, KAPPA_MIN, KAPPA_TAU, DRIFT_CONTROL, LOG_Q],
    build: Build {
        loss: |params| Box::new(Softmax { scale: Kappa::chosen(params), ..Softmax::plain(params) }),
        defaults: Defaults::COSINE,
        about: About {
            formula: "log Σ_j exp(κ_j (f_j - f_i)/τ)",
            use_when: "as an ablation of `dsl`. Alone it was below SL in every variant we tried",
        },
    },
};

pub(super) const DSL_CA: Entry = Entry {
    name: "dsl-ca",
    summary: "DSL's competition-aware branch alone: a temperature for each pair",
    params: &[TAU, ALPHA, SLATE, LOG_Q],
    build: Build {
        loss: |params| {
            Box::new(Softmax { temperature: Competition::chosen(params), ..Softmax::plain(params) })
        },
        defaults: Defaults::COSINE,
        about: About {
            formula: "log Σ_j exp((f_j - f_i)/τ_ui)",
            use_when: "if some users and items are far more contested than others, and if negatives may be false: it was the most robust of those we tested",
        },
    },
};

pub(super) const DSL_AT_K: Entry = Entry {
    name: "dsl@k",
    summary: "DSL weighted towards pairs near the top K",
    params: &[TAU, ALPHA, BETA, SLATE, KAPPA_MIN, KAPPA_TAU, DRIFT_CONTROL, TAU_W, K, REFRESH_EVERY, LOG_Q],
    build: Build {
        loss: |params| Box::new(Softmax { weight: Weight::TopK(TopKWeight::new(params)), ..dsl(params) }),
        defaults: Defaults::COSINE,
        about: About {
            formula: "σ((f_i - β_u)/τ_w) · log Σ_j exp(κ_j (f_j - f_i)/τ_ui)",
            use_when: "to compare with the paper it is from",
        },
    },
};

fn dsl(params: &Params) -> Softmax {
    Softmax {
        scale: Kappa::chosen(params),
        temperature: Competition::chosen(params),
        ..Softmax::plain(params)
    }
}
