//! PSL, the pairwise softmax loss: `lse_j(log a((f_j - f_i)/2) / τ)` with `a(x)` = `relu(x + 1)`, `tanh(x) + 1` or
//! `atan(x) + 1` in the place of SL's exponential. Halving keeps x in [-1, 1].
//!
//! W. Yang et al., PSL: Rethinking and Improving Softmax Loss from Pairwise Perspective for Recommendation,
//! NeurIPS 2024.

use super::activation::{self, PSL_ACTIVATION};
use super::softmax::{LOG_Q, Softmax, TAU};
use super::{About, Build, Defaults, Entry};

pub(super) const PSL: Entry = Entry {
    name: "psl",
    summary: "pairwise softmax: a gentler activation than the exponential",
    params: &[TAU, PSL_ACTIVATION, LOG_Q],
    build: Build {
        loss: |params| Box::new(Softmax { activation: activation::chosen(params), ..Softmax::plain(params) }),
        defaults: Defaults::COSINE,
        about: About {
            formula: "log Σ_j a((f_j - f_i)/2)^{1/τ}, with a(x) = relu(x + 1), tanh(x) + 1 or atan(x) + 1",
            use_when: "if a few very hard negatives (false ones, perhaps) dominate SL: its weights grow more slowly",
        },
    },
};
