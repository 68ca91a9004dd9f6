//! SL, the sampled softmax loss: `lse_j((f_j - f_i)/τ)`.

use super::Entry;
use super::softmax::{Softmax, TAU};

pub(super) const SL: Entry = Entry {
    name: "sl",
    summary: "softmax loss over sampled negatives",
    params: &[TAU],
    build: |params| Box::new(Softmax { tau: params.number(TAU.name), scale: None, temperature: None }),
};
