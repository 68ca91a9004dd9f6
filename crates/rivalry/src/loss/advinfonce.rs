//! AdvInfoNCE: `-f_i/τ + log(e^{f_i/τ} + W Σ_j N p_j e^{f_j/τ})`, where `p = softmax_j(g(u, j))` and g is the cosine of
//! a second set of embeddings that plays against the model.
//!
//! With `A = log(WN) + lse_j(log p_j + (f_j - f_i)/τ)` and `q` the softmax inside it, the value is `softplus(A)` and the
//! gradients are `∂/∂f_j = σ(A) q_j/τ`, `∂/∂f_i = -σ(A)/τ`, `∂/∂g_j = σ(A) (q_j - p_j)`. In every fifth epoch only the
//! adversary moves, uphill; in all others only the model.
//!
//! A. Zhang et al., Empowering Collaborative Filtering with Principled Adversarial Contrastive Loss, NeurIPS 2023.

use rivalry_kernels::{Real, sigmoid, softplus};

use super::softmax::TAU;
use super::{
    About, Build, Defaults, Entry, GradientBuffers, Loss, NegativeFeatures, Phase, Row, RowGradient, RowLoss,
};
use crate::params::{Param, Range, Search, Value};

pub(super) const ADVINFONCE: Entry = Entry {
    name: "advinfonce",
    summary: "InfoNCE whose negatives are weighted by an adversary",
    params: &[TAU, NEG_WEIGHT, ADVERSARY_LR, ADVERSARY_EVERY],
    build: Build {
        loss: |params| {
            Box::new(AdvInfoNce {
                tau: params.number(TAU.name),
                neg_weight: params.number(NEG_WEIGHT.name),
                adversary_lr: params.number(ADVERSARY_LR.name),
                adversary_every: params.count(ADVERSARY_EVERY.name),
            })
        },
        defaults: Defaults::COSINE,
        about: About {
            formula: "log(1 + W Σ_j N p_j exp((f_j - f_i)/τ)), with p_j from an adversary",
            use_when: "to compare with published tables. Where we measured it, it was close to SL at the same τ, for the cost of a second model",
        },
    },
};

const NEG_WEIGHT: Param = Param {
    name: "neg_weight",
    doc: "weight W of the negatives",
    default: Value::Number(64.0),
    range: Range::Positive,
    search: Search::NONE,
};
const ADVERSARY_LR: Param = Param {
    name: "adversary_lr",
    doc: "learning rate of the adversary",
    default: Value::Number(5e-5),
    range: Range::Positive,
    search: Search::NONE,
};
const ADVERSARY_EVERY: Param = Param {
    name: "adversary_every",
    doc: "update the adversary every N epochs, the model in the others",
    default: Value::Count(5),
    range: Range::AtLeast(2.0),
    search: Search::NONE,
};

struct AdvInfoNce {
    tau: f64,
    neg_weight: f64,
    adversary_lr: f64,
    adversary_every: usize,
}

impl<T: Real> RowLoss<T> for AdvInfoNce {
    fn gradient(&self, phase: Phase, row: Row<'_, T>, _: T, grads: GradientBuffers<'_, T>) -> RowGradient<T> {
        let n = row.negatives.len();
        let inverse_tau = T::of(1.0 / self.tau);
        T::with_buffer(2 * n, |buffer| {
            let (weights, logits) = buffer.split_at_mut(n);
            // With sharpness 1, the gradient of log-sum-exp is the softmax itself.
            let (adversary_total, _) =
                T::log_sum_exp(T::zero(), row.features, None, None, T::one(), T::one(), weights);
            for ((z, g), f) in logits.iter_mut().zip(row.features).zip(row.negatives) {
                *z = *g - adversary_total + (*f - row.positive) * inverse_tau;
            }
            let (total, _) =
                T::log_sum_exp(T::zero(), logits, None, None, T::one(), T::one(), grads.negatives);
            let a = T::of((self.neg_weight * n as f64).ln()) + total;
            let pull = sigmoid(a);
            for (q, p) in grads.negatives.iter_mut().zip(weights) {
                *q = match phase {
                    Phase::Adversary => pull * (*q - *p),
                    _ => pull * inverse_tau * *q,
                };
            }
            let positive = if phase == Phase::Adversary { T::zero() } else { -pull * inverse_tau };
            RowGradient { value: softplus(a), positive }
        })
    }
}

impl Loss for AdvInfoNce {
    fn negative_features(&self) -> NegativeFeatures {
        NegativeFeatures::AdversaryScores
    }

    fn phases(&self, epoch: usize) -> &'static [Phase] {
        if (epoch + 1).is_multiple_of(self.adversary_every) { &[Phase::Adversary] } else { &[Phase::Model] }
    }

    fn adversary_lr(&self) -> Option<f64> {
        Some(self.adversary_lr)
    }
}
