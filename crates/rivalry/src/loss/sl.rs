//! SL, the sampled softmax loss: `lse_j((f_j - f_i)/τ)`.
//!
//! J. Wu et al., On the Effectiveness of Sampled Softmax Loss for Item Recommendation, TOIS 2024.

use super::softmax::{LOG_Q, Softmax, TAU};
use super::{About, Build, Defaults, Entry};

pub(super) const SL: Entry = Entry {
    name: "sl",
    summary: "softmax loss over sampled negatives",
    params: &[TAU, LOG_Q],
    build: Build {
        loss: |params| Box::new(Softmax::plain(params)),
        defaults: Defaults::COSINE,
        about: About {
            formula: "log Σ_j exp((f_j - f_i)/τ)",
            use_when: "as the first softmax loss to try and the baseline of all others: one parameter. Tune τ first",
        },
    },
};
