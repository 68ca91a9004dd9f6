//! Talos: `lse_j((log σ(f_j - β_u) - γ log σ(f_i - β_u))/τ)`, where β_u is the score that K items of the catalogue exceed for this
//! user, learned beside the model (`learned_quantiles`) and constant in the gradient.
//!
//! With `q` the softmax over the negatives, the gradients are `∂/∂f_j = q_j σ(β_u - f_j)/τ` and `∂/∂f_i = -γ σ(β_u - f_i)/τ`. As
//! `2σ(x) = tanh(x/2) + 1`, the logits are those of PSL's tanh around β_u, plus a constant.
//!
//! As published, γ = 1 and τ is the same for all pairs; γ is CAP's pull, and with α > 0 the temperature is DSL's by competition.
//!
//! S. Zhang et al., Talos: Optimizing Top-K Accuracy in Recommender Systems, WWW 2026.

use std::f64::consts::LN_2;

use rivalry_kernels::{Activation, Real, sigmoid, softplus};

use super::competition::{ALPHA, Competition, SLATE};
use super::learned_quantiles::LearnedQuantiles;
use super::softmax::{PULL, TAU};
use super::{
    About, Build, Catalogue, Defaults, Entry, GradientBuffers, Loss, NegativeFeatures, Phase, Row,
    RowGradient, RowLoss, State, activation, top_k,
};
use crate::params::{Param, Range, Search, Value};

pub(super) const TALOS: Entry = Entry {
    name: "talos",
    summary: "softmax over how far scores are above a learned threshold of the top K",
    params: &[
        TAU,
        Param { doc: "the number of items whose scores exceed a user's threshold", ..top_k::K },
        QUANTILE_LR,
        PULL,
        Param { default: Value::Number(0.0), search: Search::NONE, ..ALPHA },
        SLATE,
    ],
    build: Build {
        loss: |params| {
            Box::new(Talos {
                tau: params.number(TAU.name),
                pull: params.number(PULL.name),
                temperature: Competition::chosen(params),
                quantiles: LearnedQuantiles::new(
                    params.count(top_k::K.name),
                    params.number(QUANTILE_LR.name),
                ),
            })
        },
        defaults: Defaults::COSINE,
        about: About {
            formula: "log Σ_j (σ(f_j - β_u)/σ(f_i - β_u))^{1/τ}, with β_u the score that K items exceed",
            use_when: "to compare with published tables, or if the first K places count",
        },
    },
};

const QUANTILE_LR: Param = Param {
    name: "quantile_lr",
    doc: "learning rate of the users' thresholds",
    default: Value::Number(1e-3),
    range: Range::Positive,
    search: Search::NONE,
};

struct Talos {
    tau: f64,
    pull: f64,
    temperature: Option<Competition>,
    quantiles: LearnedQuantiles,
}

impl<T: Real> RowLoss<T> for Talos {
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
        let (sharpness, pull) = (multiplier / T::of(self.tau), T::of(self.pull));
        let quantile: T = self.quantiles.value(row.user);
        let above = row.positive - quantile;
        // The negatives' logits are log 2σ.
        let positive = T::of(LN_2) - pull * softplus(-above);
        let (value, _) =
            activation::with_logits(Activation::Tanh, quantile, row.negatives, |logits, slopes| {
                T::log_sum_exp(positive, logits, None, Some(slopes), sharpness, T::one(), grads.negatives)
            });
        RowGradient { value, positive: -pull * sharpness * sigmoid(-above) }
    }

    fn quantile_gradient(&self, row: Row<'_, T>, catalogue: Catalogue) -> T {
        self.quantiles.gradient(row, catalogue)
    }
}

impl Loss for Talos {
    fn negative_features(&self) -> NegativeFeatures {
        match self.temperature {
            None => NegativeFeatures::None,
            Some(_) => NegativeFeatures::Similarities,
        }
    }

    fn slate(&self) -> Option<usize> {
        self.temperature.as_ref().map(Competition::slate)
    }

    fn set_quantile(&mut self, user: u32, value: f32) {
        self.quantiles.set(user, value.into());
    }

    fn learns_quantiles(&self) -> bool {
        true
    }

    fn step_quantiles(&mut self, gradients: &[(u32, f32)]) {
        self.quantiles.step(gradients);
    }

    fn state(&self) -> State {
        self.quantiles.state()
    }

    fn restore(&mut self, state: &State) -> bool {
        self.quantiles.restore(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{LOSSES, LossConfig};

    fn value(settings: &str, steps: &[(u32, f32)], positive: f64, negatives: &[f64]) -> f64 {
        let config = LossConfig::from_table("loss", LOSSES, &settings.parse().unwrap()).unwrap();
        let mut loss = config.build();
        steps.iter().for_each(|step| loss.step_quantiles(&[*step]));
        let row = Row { user: 0, positive, negatives, features: &[], log_probs: &[] };
        let mut grads = vec![0.0; negatives.len()];
        let places = GradientBuffers { negatives: &mut grads, params: &mut [] };
        RowLoss::<f64>::gradient(&*loss, Phase::Model, row, 1.0, places).value
    }

    #[test]
    fn a_quantile_that_is_set_is_that_of_the_value() {
        let config =
            LossConfig::from_table("loss", LOSSES, &"type = 'talos'\nquantile_lr = 0.05".parse().unwrap());
        let [mut set, mut learned] = [(); 2].map(|()| config.as_ref().unwrap().build());
        learned.step_quantiles(&[(0, -1.0)]);
        set.set_quantile(0, 0.05);
        let row = Row { user: 0, positive: 0.4, negatives: &[0.1, -0.7], features: &[], log_probs: &[] };
        let [set, learned] = [set, learned].map(|loss| {
            let places = GradientBuffers { negatives: &mut [0.0; 2], params: &mut [] };
            RowLoss::<f64>::gradient(&*loss, Phase::Model, row, 1.0, places).value
        });
        assert!((set - learned).abs() < 1e-6, "{set} {learned}");
    }

    #[test]
    fn the_value_is_that_of_the_formula() {
        let (positive, negatives) = (0.4, [0.1, -0.7, 0.9]);
        let log_sigmoid = |x: f64| -(-x).exp().ln_1p();
        for (steps, quantile) in [(&[][..], 0.0), (&[(0, -1.0)][..], 0.05)] {
            let formula = |pull: f64| {
                let terms = negatives.map(|f| (log_sigmoid(f - quantile) / 0.25).exp());
                terms.iter().sum::<f64>().ln() - pull * log_sigmoid(positive - quantile) / 0.25
            };
            for pull in [1.0, 0.8] {
                let settings = format!("type = 'talos'\ntau = 0.25\nquantile_lr = 0.05\npull = {pull}");
                let found = value(&settings, steps, positive, &negatives);
                assert!((found - formula(pull)).abs() < 1e-6, "{found} {}", formula(pull));
            }
        }
    }
}
