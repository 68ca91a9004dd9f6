//! LLPAUC, a bound on the lower-left partial area under the ROC curve. With `p = σ(f)` and learned numbers
//! a, b, s⁺, s⁻, γ, θ_a, θ_b:
//!
//! `-s⁺ - mean_i r(-(p_i-a)² + 2(1+γ)p_i - s⁺)/α + s⁻ + mean_ij r((p_j-b)² + 2(1+γ)p_j - s⁻)/β - γ² + θ_a(a+γ) + θ_b(γ+1-b)`
//! with `r(x) = log(1 + e^{κx})/κ`.
//!
//! All numbers go downhill, s⁺, s⁻ and γ at twice the learning rate, and are clipped afterwards. (The min-max form
//! would have s⁺ and γ go uphill; the published figures come from the form above.)
//!
//! W. Shi et al., Lower-Left Partial AUC: An Effective and Efficient Optimization Metric for Recommendation, WWW 2024.

use rivalry_kernels::{Hinge, Real, sigmoid, softplus};

use super::learned::LearnedParams;
use super::{
    About, Build, Defaults, Entry, GradientBuffers, Init, Loss, Phase, Row, RowGradient, RowLoss, State,
};
use crate::params::{Param, Range, Search, Value};

pub(super) const LLPAUC: Entry = Entry {
    name: "llpauc",
    summary: "lower-left partial AUC: the head of the ranking against the hardest negatives",
    params: &[ALPHA, BETA, KAPPA],
    build: Build {
        loss: |params| {
            Box::new(Llpauc {
                alpha: params.number(ALPHA.name),
                beta: params.number(BETA.name),
                kappa: params.number(KAPPA.name),
                learned: LearnedParams::new(vec![1.0, 0.0, 0.5, 0.5, 0.0, 0.5, 0.5]),
            })
        },
        defaults: Defaults { init: Init::Normal(0.01), ..Defaults::COSINE },
        about: About {
            formula: "-s⁺ - r(-(p_i - a)² + 2(1+γ)p_i - s⁺)/α + s⁻ + mean_j r((p_j - b)² + 2(1+γ)p_j - s⁻)/β + …, with p = σ(f), r(x) = log(1 + e^{κx})/κ, and learned a, b, s⁺, s⁻, γ",
            use_when: "to compare with published tables, or if a partial AUC is what you are judged by",
        },
    },
};

const ALPHA: Param = Param {
    name: "alpha",
    doc: "share of the positives that counts",
    default: Value::Number(0.7),
    range: Range::Between(0.0, 1.0),
    search: Search::uniform(&[0.1, 0.3, 0.5, 0.7, 0.9]).paper(&[0.1, 0.3, 0.5, 0.7, 0.9]),
};
const BETA: Param = Param {
    name: "beta",
    doc: "share of the negatives that counts",
    default: Value::Number(0.01),
    range: Range::Between(0.0, 1.0),
    search: Search::log_uniform(&[0.003, 0.01, 0.03, 0.1]).paper(&[0.01, 0.1]),
};
const KAPPA: Param = Param {
    name: "kappa",
    doc: "sharpness of the smoothed hinge r",
    default: Value::Number(5.0),
    range: Range::Positive,
    search: Search::NONE,
};

/// The places of the learned numbers.
const A: usize = 0;
const B: usize = 1;
const S_POS: usize = 2;
const S_NEG: usize = 3;
const GAMMA: usize = 4;
const THETA_A: usize = 5;
const THETA_B: usize = 6;

struct Llpauc {
    alpha: f64,
    beta: f64,
    kappa: f64,
    learned: LearnedParams,
}

impl<T: Real> RowLoss<T> for Llpauc {
    fn gradient(&self, _: Phase, row: Row<'_, T>, _: T, grads: GradientBuffers<'_, T>) -> RowGradient<T> {
        let number = |n: usize| T::of(self.learned.values[n]);
        let [a, b, s_pos, s_neg, gamma] = [A, B, S_POS, S_NEG, GAMMA].map(number);
        let (theta_a, theta_b) = (number(THETA_A), number(THETA_B));
        let (one, two, kappa) = (T::one(), T::of(2.0), T::of(self.kappa));
        let params = grads.params;

        let p = sigmoid(row.positive);
        let z = kappa * (-(p - a) * (p - a) + two * (one + gamma) * p - s_pos);
        let weight = -sigmoid(z) / T::of(self.alpha);
        let mut value = -softplus(z) / kappa / T::of(self.alpha);
        let positive = weight * (-two * (p - a) + two * (one + gamma)) * p * (one - p);
        params[A] = params[A] + weight * two * (p - a) + theta_a;
        params[S_POS] = params[S_POS] - one - weight;
        let mut gamma_grad = weight * two * p;

        let share = T::of(1.0 / (self.beta * row.negatives.len() as f64));
        let hinge = Hinge { centre: b, slope: two * (one + gamma), offset: s_neg, sharpness: kappa };
        let sums = T::hinge(hinge, row.negatives, share, grads.negatives);
        let (slope, slope_p) = (share * sums.slope, share * sums.slope_p);
        value = value + share * sums.value;
        gamma_grad = gamma_grad + two * slope_p;
        params[B] = params[B] + two * (b * slope - slope_p) - theta_b;
        params[S_NEG] = params[S_NEG] - slope + one;
        params[GAMMA] = params[GAMMA] + gamma_grad - two * gamma + theta_a + theta_b;
        params[THETA_A] = params[THETA_A] + a + gamma;
        params[THETA_B] = params[THETA_B] + gamma + one - b;
        value = value - s_pos + s_neg - gamma * gamma + theta_a * (a + gamma) + theta_b * (gamma + one - b);
        RowGradient { value, positive }
    }
}

impl Loss for Llpauc {
    fn n_params(&self) -> usize {
        self.learned.values.len()
    }

    fn step_params(&mut self, _: Phase, grads: &[f64], lr: f64) {
        self.learned.step(grads, |n| if [S_POS, S_NEG, GAMMA].contains(&n) { 2.0 * lr } else { lr });
        let v = &mut self.learned.values;
        v[A] = v[A].clamp(0.0, 1.0);
        v[B] = v[B].clamp(0.0, 1.0);
        v[S_POS] = v[S_POS].clamp(-1.0, 4.0);
        v[S_NEG] = v[S_NEG].clamp(0.0, 5.0);
        v[GAMMA] = v[GAMMA].clamp((-v[A]).max(v[B] - 1.0), 1.0);
    }

    fn state(&self) -> State {
        self.learned.state()
    }

    fn restore(&mut self, state: &State) -> bool {
        self.learned.restore(state)
    }
}
