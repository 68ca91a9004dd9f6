//! BPR, Bayesian personalised ranking: `softplus(f_j - f_i)`, the mean over the negatives where there are several.
//!
//! S. Rendle et al., BPR: Bayesian Personalized Ranking from Implicit Feedback, UAI 2009.

use rivalry_kernels::{Real, sigmoid, softplus};

use super::{Entry, GradientBuffers, Init, Loss, Negatives, Phase, Row, RowGradient, RowLoss};

pub(super) const BPR: Entry = Entry {
    name: "bpr",
    summary: "Bayesian personalised ranking: each pair against one negative, or the mean over several",
    params: &[],
    build: |_| Box::new(Bpr),
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

impl Loss for Bpr {
    fn negatives(&self) -> Negatives {
        Negatives::Default(1)
    }

    fn init(&self) -> Init {
        Init::Xavier
    }
}
