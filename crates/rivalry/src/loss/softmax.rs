//! The softmax family: `w_ui · log Σ_j exp(κ_j φ(f_j - γ f_i) / τ_ui)`.
//!
//! Its members differ in five parts: the activation behind φ (see `activation`), the pull γ on the positive, the scale κ
//! of each negative, the temperature of each pair and the weight of each pair. The named losses are presets of these
//! parts; `softmax` takes any combination of them. Scale and temperature are constants in the gradient, the weight is not:
//! `∂/∂f_j = w q_j κ_j φ'_j/τ_ui` with `q = softmax(κ_j φ_j/τ_ui)`, and the positive's is minus γ times their sum plus
//! the weight's slope times the unweighted loss.
//!
//! With `log_q` each exponent has the log-probability of its negative subtracted, so that negatives from any sampler
//! estimate the softmax over all items (log-q correction).

use rivalry_kernels::{Activation, Real};

use super::activation::{self, ACTIVATION};
use super::competition::{ALPHA, Competition, SLATE};
use super::kappa::{BETA, DRIFT_CONTROL, KAPPA_MIN, KAPPA_TAU, Kappa};
use super::top_k::{K, REFRESH_EVERY, TAU_W, TopKWeight};
use super::{
    About, Build, Defaults, Diagnostics, Entry, GradientBuffers, LogSumExpForm, LogSumExpGradient, Loss,
    NegativeFeatures, Phase, Row, RowGradient, RowLoss, State,
};
use crate::params::{Param, Params, Range, Search, Value};

/// The temperature every member has.
pub(super) const TAU: Param = Param {
    name: "tau",
    doc: "temperature; lower values focus on hard negatives",
    default: Value::Number(0.2),
    range: Range::Positive,
    search: Search::log_uniform(&[0.05, 0.1, 0.15, 0.2, 0.3, 0.5])
        .paper(&[0.005, 0.025, 0.05, 0.1, 0.2, 0.25]),
};

/// The family with its parts chosen one by one.
pub(super) const SOFTMAX: Entry = Entry {
    name: "softmax",
    summary: "the softmax family with each part chosen: activation, pull, scale, temperature, weight",
    params: &[
        TAU,
        ACTIVATION,
        PULL,
        SCALE,
        TEMPERATURE,
        WEIGHT,
        LOG_Q,
        ALPHA,
        SLATE,
        BETA,
        KAPPA_MIN,
        KAPPA_TAU,
        DRIFT_CONTROL,
        TAU_W,
        K,
        REFRESH_EVERY,
    ],
    build: Build {
        loss: |params| {
            let top_k = || Weight::TopK(TopKWeight::new(params));
            Box::new(Softmax {
                tau: params.number(TAU.name),
                activation: activation::chosen(params),
                pull: params.number(PULL.name),
                scale: Kappa::chosen(params).filter(|_| params.choice(SCALE.name) == "kappa"),
                temperature: Competition::chosen(params)
                    .filter(|_| params.choice(TEMPERATURE.name) == "competition"),
                weight: if params.choice(WEIGHT.name) == "top-k" { top_k() } else { Weight::One },
                log_q: params.flag(LOG_Q.name),
            })
        },
        defaults: Defaults::COSINE,
        about: About {
            formula: "w_ui · log Σ_j exp(κ_j φ(f_j - γ f_i)/τ_ui)",
            use_when: "for ablations and for combinations that have no name",
        },
    },
};

/// γ: 1 in every published member.
pub(super) const PULL: Param = Param {
    name: "pull",
    doc: "weight of the positive relative to the negatives",
    default: Value::Number(1.0),
    range: Range::Positive,
    search: Search::NONE,
};
const SCALE: Param = Param {
    name: "scale",
    doc: "scale of each negative: one, or DSL's κ (beta, kappa_min, kappa_tau, drift_control)",
    default: Value::Choice("one"),
    range: Range::OneOf(&["one", "kappa"]),
    search: Search::NONE,
};
const TEMPERATURE: Param = Param {
    name: "temperature",
    doc: "temperature of each pair: constant, or DSL's by competition (alpha, slate)",
    default: Value::Choice("constant"),
    range: Range::OneOf(&["constant", "competition"]),
    search: Search::NONE,
};
const WEIGHT: Param = Param {
    name: "weight",
    doc: "weight of each pair: one, or SL@K's top-k (tau_w, k, refresh_every)",
    default: Value::Choice("one"),
    range: Range::OneOf(&["one", "top-k"]),
    search: Search::NONE,
};

pub(super) const LOG_Q: Param = Param {
    name: "log_q",
    doc: "log-q correction: subtract the log-probability of each negative, for samplers that are not uniform",
    default: Value::Flag(false),
    range: Range::Any,
    search: Search::NONE,
};

/// A member of the family.
#[derive(Clone, Debug)]
pub(super) struct Softmax {
    pub tau: f64,
    pub activation: Option<Activation>,
    pub pull: f64,
    pub scale: Option<Kappa>,
    pub temperature: Option<Competition>,
    pub weight: Weight,
    pub log_q: bool,
}

/// The weight of a training pair.
#[derive(Clone, Debug)]
pub(super) enum Weight {
    One,
    Constant(f64),
    TopK(TopKWeight),
}

impl Softmax {
    /// The plain softmax loss: every optional part left out.
    pub fn plain(params: &Params) -> Self {
        Self::at_temperature(params.number(TAU.name), params)
    }

    /// The same at a temperature that has another name among the parameters.
    pub fn at_temperature(tau: f64, params: &Params) -> Self {
        let log_q = params.flag(LOG_Q.name);
        Self { tau, activation: None, pull: 1.0, scale: None, temperature: None, weight: Weight::One, log_q }
    }
}

impl<T: Real> RowLoss<T> for Softmax {
    fn has_measure(&self) -> bool {
        self.temperature.is_some()
    }

    fn measure(&self, row: Row<'_, T>) -> T {
        match &self.temperature {
            Some(competition) => competition.intensity(row, T::of(self.tau)),
            None => T::one(),
        }
    }

    fn calibrate(&self, measures: &mut [T]) {
        if let Some(competition) = &self.temperature {
            competition.multipliers(measures);
        }
    }

    fn gradient(
        &self,
        _: Phase,
        row: Row<'_, T>,
        multiplier: T,
        grads: GradientBuffers<'_, T>,
    ) -> RowGradient<T> {
        let sharpness = multiplier / T::of(self.tau);
        let (weight, slope) = self.weight.of(row.user, row.positive);
        let pull = T::of(self.pull);
        let positive = pull * row.positive;
        let mut softmax = |reference: T, logits: &[T], scale: Option<&[T]>, slopes: Option<&[T]>| {
            if row.log_probs.is_empty() {
                return T::log_sum_exp(reference, logits, scale, slopes, sharpness, weight, grads.negatives);
            }
            T::with_buffer(logits.len(), |corrected| {
                for (j, place) in corrected.iter_mut().enumerate() {
                    let inverse_temperature = scale.map_or(sharpness, |scale| sharpness * scale[j]);
                    *place = logits[j] - reference - row.log_probs[j] / inverse_temperature;
                }
                T::log_sum_exp(T::zero(), corrected, scale, slopes, sharpness, weight, grads.negatives)
            })
        };
        let mut with_scale = |scale: Option<&[T]>| match self.activation {
            None => softmax(positive, row.negatives, scale, None),
            Some(activation) => {
                activation::with_logits(activation, positive, row.negatives, |logits, slopes| {
                    softmax(T::zero(), logits, scale, Some(slopes))
                })
            }
        };
        let (value, mass) = match &self.scale {
            None => with_scale(None),
            Some(kappa) => T::with_buffer(row.negatives.len(), |weights| {
                kappa.weights(row, weights);
                with_scale(Some(weights))
            }),
        };
        RowGradient { value: weight * value, positive: slope * value - pull * mass }
    }
}

impl Weight {
    /// The weight of a pair and its slope in the pair's score.
    fn of<T: Real>(&self, user: u32, positive: T) -> (T, T) {
        match self {
            Self::One => (T::one(), T::zero()),
            Self::Constant(weight) => (T::of(*weight), T::zero()),
            Self::TopK(top_k) => top_k.weight(user, positive),
        }
    }
}

impl LogSumExpForm for Softmax {
    fn sharpness(&self) -> f64 {
        self.tau.recip()
    }

    fn gradient(&self, user: u32, positive: f32, log_sum_exp: f32) -> LogSumExpGradient {
        let (weight, slope) = self.weight.of(user, positive);
        let pull = (self.pull / self.tau) as f32;
        let value = log_sum_exp - pull * positive;
        LogSumExpGradient {
            value: weight * value,
            positive: slope * value - pull * weight,
            log_sum_exp: weight,
        }
    }
}

impl Loss for Softmax {
    fn log_sum_exp_form(&self) -> Option<&dyn LogSumExpForm> {
        let plain = self.activation.is_none() && self.scale.is_none() && self.temperature.is_none();
        (plain && !self.log_q).then_some(self)
    }

    fn negative_features(&self) -> NegativeFeatures {
        match (&self.scale, &self.temperature) {
            (None, None) => NegativeFeatures::None,
            _ => NegativeFeatures::Similarities,
        }
    }

    fn slate(&self) -> Option<usize> {
        self.temperature.as_ref().filter(|_| self.scale.is_none()).map(Competition::slate)
    }

    fn uses_log_probs(&self) -> bool {
        self.log_q
    }

    fn diagnostics(&self) -> Option<&dyn Diagnostics> {
        Some(self)
    }

    fn quantile_rank(&self, epoch: usize) -> Option<usize> {
        match &self.weight {
            Weight::TopK(top_k) => top_k.rank(epoch),
            _ => None,
        }
    }

    fn set_quantile(&mut self, user: u32, value: f32) {
        if let Weight::TopK(top_k) = &mut self.weight {
            top_k.set(user, value);
        }
    }

    fn state(&self) -> State {
        match &self.weight {
            Weight::TopK(top_k) => top_k.state(),
            _ => State::new(),
        }
    }

    fn restore(&mut self, state: &State) -> bool {
        match &mut self.weight {
            Weight::TopK(top_k) => top_k.restore(state),
            _ => state.is_empty(),
        }
    }
}
