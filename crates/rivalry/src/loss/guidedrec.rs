//! GuidedRec: a small network learns to predict the DCG of ten items, and the model follows its slope.
//!
//! A step has three turns: the model moves along `-(9 log p_i + Σ_j log(1 - p_j))` with `p = σ(f)`; the network moves
//! along `(EDCG - DCG)²`; the model moves along `-EDCG` with the network fixed.
//!
//! A. Rashed et al., A Guided Learning Approach for Item Recommendation via Surrogate Loss Learning, SIGIR 2021.

mod network;

use rivalry_kernels::{Real, sigmoid, softplus};

use self::network::{Network, SIZE};
use super::learned::LearnedParams;
use super::{
    About, Build, Defaults, Entry, GradientBuffers, Loss, Negatives, Phase, Row, RowGradient, RowLoss, State,
};
use crate::optim::LR;
use crate::params::{Param, Search, Value};

pub(super) const GUIDEDREC: Entry = Entry {
    name: "guidedrec",
    summary: "a network learns to predict DCG from scores; the model maximises its output",
    params: &[],
    build: Build {
        loss: |_| Box::new(GuidedRec { learned: LearnedParams::new(network::initial()) }),
        defaults: DEFAULTS,
        about: About {
            formula: "the model descends -(9 log σ(f_i) + Σ_j log(1 - σ(f_j))), then a learned estimate of -DCG",
            use_when: "to compare with published tables. It takes nine negatives and no other number",
        },
    },
};

const DEFAULTS: Defaults = Defaults {
    lr: Param {
        default: Value::Number(0.01),
        search: Search::log_uniform(&[0.001, 0.003, 0.01, 0.03]).paper(LR.search.paper),
        ..LR
    },
    negatives: Negatives::Exactly(SIZE - 1),
    ..Defaults::COSINE
};

struct GuidedRec {
    learned: LearnedParams,
}

impl<T: Real> RowLoss<T> for GuidedRec {
    fn gradient(&self, phase: Phase, row: Row<'_, T>, _: T, grads: GradientBuffers<'_, T>) -> RowGradient<T> {
        match phase {
            Phase::LossParams => self.fit_network(row, grads),
            Phase::ModelAgain => self.climb(row, grads),
            Phase::Model | Phase::Adversary => cross_entropy(row, grads),
        }
    }
}

/// `-(9 log p_i + Σ_j log(1 - p_j))`: the positive weighs as much as the nine negatives.
fn cross_entropy<T: Real>(row: Row<'_, T>, grads: GradientBuffers<'_, T>) -> RowGradient<T> {
    let n = T::of(row.negatives.len() as f64);
    let mut value = n * softplus(-row.positive);
    for (f, g) in row.negatives.iter().zip(grads.negatives) {
        value = value + softplus(*f);
        *g = sigmoid(*f);
    }
    RowGradient { value, positive: -n * sigmoid(-row.positive) }
}

impl GuidedRec {
    fn fit_network<T: Real>(&self, row: Row<'_, T>, grads: GradientBuffers<'_, T>) -> RowGradient<T> {
        let network = Network::new(&self.learned.values, chances(row));
        let miss = network.edcg() - dcg(row);
        network.backward(miss + miss, Some(grads.params));
        grads.negatives.fill(T::zero());
        RowGradient { value: miss * miss, positive: T::zero() }
    }

    fn climb<T: Real>(&self, row: Row<'_, T>, grads: GradientBuffers<'_, T>) -> RowGradient<T> {
        let chances = chances(row);
        let network = Network::new(&self.learned.values, chances);
        let slopes = network.backward(-T::one(), None);
        let through = |k: usize| slopes[k] * chances[k] * (T::one() - chances[k]);
        for (k, g) in grads.negatives.iter_mut().enumerate() {
            *g = through(k + 1);
        }
        RowGradient { value: -network.edcg(), positive: through(0) }
    }
}

impl Loss for GuidedRec {
    fn phases(&self, _: usize) -> &'static [Phase] {
        &[Phase::Model, Phase::LossParams, Phase::ModelAgain]
    }

    fn n_params(&self) -> usize {
        self.learned.values.len()
    }

    fn step_params(&mut self, phase: Phase, grads: &[f64], lr: f64) {
        if phase == Phase::LossParams {
            self.learned.step(grads, |_| lr);
        }
    }

    fn state(&self) -> State {
        self.learned.state()
    }

    fn restore(&mut self, state: &State) -> bool {
        self.learned.restore(state)
    }
}

/// σ of the scores, the positive's first.
fn chances<T: Real>(row: Row<'_, T>) -> [T; SIZE] {
    std::array::from_fn(|k| sigmoid(if k == 0 { row.positive } else { row.negatives[k - 1] }))
}

/// The DCG of one positive: one over the logarithm of its rank.
fn dcg<T: Real>(row: Row<'_, T>) -> T {
    let above = row.negatives.iter().filter(|f| **f > row.positive).count();
    T::of((above as f64 + 2.0).log2()).recip()
}
