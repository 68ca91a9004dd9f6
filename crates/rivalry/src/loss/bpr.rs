//! BPR, Bayesian personalised ranking: `softplus(f_j - f_i)`, the mean over the negatives where there are several.
//!
//! S. Rendle et al., BPR: Bayesian Personalized Ranking from Implicit Feedback, UAI 2009.

use rivalry_kernels::{Real, sigmoid, softplus};

use super::{
    About, Build, Defaults, Entry, GradientBuffers, Init, Loss, Negatives, Phase, Row, RowGradient, RowLoss,
};
use crate::backbone::{POPULARITY_WEIGHT, Score};
use crate::optim::{LR, WEIGHT_DECAY};
use crate::params::{Param, Search, Value};

pub(super) const BPR: Entry = Entry {
    name: "bpr",
    summary: "Bayesian personalised ranking: each pair against one negative, or the mean over several",
    params: &[],
    build: Build {
        loss: |_| Box::new(Bpr),
        defaults: DEFAULTS,
        about: About {
            formula: "mean_j softplus(f_j - f_i)",
            use_when: "as the classic baseline: an epoch with one negative costs little. Tune its learning rate and weight decay. Every softmax loss was ahead of it on all data sets we measured",
        },
    },
};

/// BPR learns from how long embeddings are, too: as cosines its scores are too close to each other. Lengths are held down
/// by weight decay. Measured with one seed, validation NDCG@20 of MovieLens-100k and Health: dot products at a learning
/// rate of 0.003 with weight decay 0, 1e-5, 3e-5 and 1e-4 give 0.206, 0.215, 0.223, 0.194 and 0.070, 0.072, 0.080, 0.089;
/// cosines at 0.1 without weight decay 0.067 on Health.
const DEFAULTS: Defaults = Defaults {
    score: Score::Dot,
    // The lengths of embeddings learn how popular items are.
    popularity_weight: POPULARITY_WEIGHT,
    lr: Param {
        default: Value::Number(0.003),
        search: Search::log_uniform(&[0.001, 0.003, 0.01]).paper(LR.search.paper),
        ..LR
    },
    weight_decay: Param {
        default: Value::Number(3e-5),
        search: Search::log_uniform(&[0.0, 1e-5, 3e-5, 1e-4, 3e-4]).paper(WEIGHT_DECAY.search.paper),
        ..WEIGHT_DECAY
    },
    negatives: Negatives::Default(1),
    init: Init::Xavier,
};

struct Bpr;

impl<T: Real> RowLoss<T> for Bpr {
    fn gradient(&self, _: Phase, row: Row<'_, T>, _: T, grads: GradientBuffers<'_, T>) -> RowGradient<T> {
        let share = T::of(row.negatives.len() as f64).recip();
        let (mut value, mut mass) = (T::zero(), T::zero());
        for (f, g) in row.negatives.iter().zip(grads.negatives) {
            let difference = *f - row.positive;
            value = value + share * softplus(difference);
            *g = share * sigmoid(difference);
            mass = mass + *g;
        }
        RowGradient { value, positive: -mass }
    }
}

impl Loss for Bpr {}
