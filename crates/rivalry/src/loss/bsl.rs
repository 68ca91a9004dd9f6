//! BSL, the bilateral softmax loss: `-f_i/τ₁ + (τ₂/τ₁) · lse_j(f_j/τ₂)`.
//!
//! Taking the positive into the sum shows that this is the softmax loss at temperature τ₂, weighted by τ₂/τ₁.
//!
//! J. Wu et al., BSL: Understanding and Improving Softmax Loss for Recommendation, ICDE 2024.

use super::softmax::{LOG_Q, Softmax, TAU, Weight};
use super::{About, Build, Defaults, Entry};
use crate::params::Param;

pub(super) const BSL: Entry = Entry {
    name: "bsl",
    summary: "bilateral softmax: one temperature for the positive, another for the negatives; sl where they are equal, as by default",
    params: &[TAU1, TAU2, LOG_Q],
    build: Build {
        loss: |params| {
            let (tau1, tau2) = (params.number(TAU1.name), params.number(TAU2.name));
            Box::new(Softmax {
                weight: Weight::Constant(tau2 / tau1),
                ..Softmax::at_temperature(tau2, params)
            })
        },
        defaults: Defaults::COSINE,
        about: About {
            formula: "-f_i/τ₁ + (τ₂/τ₁) log Σ_j exp(f_j/τ₂)",
            use_when: "to compare with published tables: it is SL at τ₂ with a factor τ₂/τ₁, which Adam hardly notices",
        },
    },
};

const TAU1: Param = Param { name: "tau1", doc: "temperature of the positive", ..TAU };
const TAU2: Param = Param { name: "tau2", doc: "temperature of the negatives", ..TAU };
