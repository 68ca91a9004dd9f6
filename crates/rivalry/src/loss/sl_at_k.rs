//! SL@K: `σ((f_i - β_u)/τ_w) · lse_j((f_j - f_i)/τ)`, where β_u estimates the user's K-th highest score.
//!
//! W. Yang et al., Breaking the Top-K Barrier: Advancing Top-K Ranking Metrics Optimization in Recommender Systems,
//! KDD 2025.

use super::softmax::{LOG_Q, Softmax, TAU, Weight};
use super::top_k::{K, REFRESH_EVERY, TAU_W, TopKWeight};
use super::{About, Build, Defaults, Entry};

pub(super) const SL_AT_K: Entry = Entry {
    name: "sl@k",
    summary: "softmax loss weighted towards pairs near the top K",
    params: &[TAU, TAU_W, K, REFRESH_EVERY, LOG_Q],
    build: Build {
        loss: |params| {
            Box::new(Softmax { weight: Weight::TopK(TopKWeight::new(params)), ..Softmax::plain(params) })
        },
        defaults: Defaults::COSINE,
        about: About {
            formula: "σ((f_i - β_u)/τ_w) · log Σ_j exp((f_j - f_i)/τ), with β_u the user's K-th highest score",
            use_when: "if the first K places count and rare items don't: it favours popular items. It is sensitive to τ: search it finely",
        },
    },
};
