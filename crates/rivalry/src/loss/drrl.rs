//! DrRL: `max(1 - f_i, 0) + (mean_j (ε + w max(f_j - η_u, 0))^p)^{1/p} + η_u`, with `p = ω/(ω-1)` and a margin η_u that is learned for
//! each user beside the model and constant in the gradient of the scores.
//!
//! It bounds the mean score of the negatives over all distributions of them within a Rényi divergence of order ω from the
//! uniform one: large ω (p near 1) is the cosine contrastive loss, in which all negatives above the margin count alike, and ω near 1
//! (large p) weighs the hardest most, as the softmax loss does. A larger w is a larger set of distributions. η_u takes plain gradient
//! steps on the same expression; where it is at its minimum, the gradients of the negatives add up to one, that of the positive.
//!
//! S. Zhang et al., Advancing Loss Functions in Recommender Systems: A Comparative Study with a Rényi Divergence-Based
//! Solution, AAAI 2025.

use rivalry_kernels::Real;

use super::{
    About, Build, Catalogue, Defaults, Entry, GradientBuffers, Loss, Phase, Row, RowGradient, RowLoss, State,
};
use crate::params::{Param, Range, Search, Value};

pub(super) const DRRL: Entry = Entry {
    name: "drrl",
    summary: "distributionally robust by a Rényi divergence: between cosine contrastive and softmax loss",
    params: &[OMEGA, WEIGHT, MARGIN, MARGIN_LR],
    build: Build {
        loss: |params| {
            let omega = params.number(OMEGA.name);
            Box::new(Drrl {
                power: omega / (omega - 1.0),
                weight: params.number(WEIGHT.name),
                margin: params.number(MARGIN.name),
                lr: params.number(MARGIN_LR.name),
                margins: Vec::new(),
            })
        },
        defaults: Defaults::COSINE,
        about: About {
            formula: "max(1 - f_i, 0) + (mean_j (0.1 + w max(f_j - η_u, 0))^p)^{1/p} + η_u, with p = ω/(ω - 1) and a learned η_u",
            use_when: "to compare with published tables, or if many negatives are false ones",
        },
    },
};

const OMEGA: Param = Param {
    name: "omega",
    doc: "order of the Rényi divergence; values near 1 focus on hard negatives",
    default: Value::Number(2.0),
    range: Range::AtLeast(1.01), // below, powers leave what f32 can hold
    search: Search::log_uniform(&[1.25, 1.5, 2.0, 4.0, 8.0]),
};
const WEIGHT: Param = Param {
    name: "negative_weight",
    doc: "w, the weight of what exceeds the margin; higher values raise the margin, so that fewer negatives count",
    default: Value::Number(2.0),
    range: Range::Positive,
    search: Search::log_uniform(&[1.0, 1.5, 2.0, 3.0, 5.0]),
};
const MARGIN: Param = Param {
    name: "margin",
    doc: "η, the margin of each user at the start",
    default: Value::Number(0.0),
    range: Range::Any,
    search: Search::NONE,
};
const MARGIN_LR: Param = Param {
    name: "margin_lr",
    doc: "learning rate of the users' margins",
    default: Value::Number(0.01),
    range: Range::Positive,
    search: Search::NONE,
};

/// ε: keeps the root smooth where no negative exceeds the margin.
const EPSILON: f64 = 0.1;

/// The name of the margins in a saved state.
const MARGINS: &str = "margins";

struct Drrl {
    power: f64,
    weight: f64,
    /// The margin of users who have none yet.
    margin: f64,
    lr: f64,
    margins: Vec<f64>,
}

/// The root of the mean power over the negatives of a row.
struct PowerMean<T> {
    margin: T,
    /// The largest term, by which all are divided so that no power overflows.
    largest: T,
    value: T,
    /// The derivative of the value with respect to a score, divided by the power `p - 1` of its term.
    slope: T,
}

impl Drrl {
    fn margin<T: Real>(&self, user: u32) -> T {
        T::of(self.margins.get(user as usize).copied().unwrap_or(self.margin))
    }

    fn margin_of(&mut self, user: u32) -> &mut f64 {
        let user = user as usize;
        if self.margins.len() <= user {
            self.margins.resize(user + 1, self.margin);
        }
        &mut self.margins[user]
    }

    /// What a negative adds, before it is raised to a power.
    fn term<T: Real>(&self, score: T, margin: T) -> T {
        let excess = score - margin;
        // What is not a number stays so, and ends the training.
        T::of(EPSILON) + T::of(self.weight) * if excess < T::zero() { T::zero() } else { excess }
    }

    fn power_mean<T: Real>(&self, row: Row<'_, T>) -> PowerMean<T> {
        let (power, margin) = (T::of(self.power), self.margin(row.user));
        let highest = row.negatives.iter().fold(T::neg_infinity(), |highest, &f| highest.max(f));
        let largest = self.term(highest, margin);
        let (n, mut below, mut sum) = (row.negatives.len(), 0u32, T::zero());
        for &f in row.negatives {
            match f <= margin {
                true => below += 1,
                false => sum = sum + (self.term(f, margin) / largest).powf(power),
            }
        }
        sum = sum + T::of(f64::from(below)) * (T::of(EPSILON) / largest).powf(power);
        let root = (sum / T::of(n as f64)).powf(power.recip());
        let slope = T::of(self.weight / n as f64) * root.powf(T::one() - power);
        PowerMean { margin, largest, value: largest * root, slope }
    }

    /// The derivative of the mean with respect to a score.
    fn slope<T: Real>(&self, mean: &PowerMean<T>, score: T) -> T {
        match score > mean.margin {
            true => mean.slope * (self.term(score, mean.margin) / mean.largest).powf(T::of(self.power - 1.0)),
            false => T::zero(),
        }
    }
}

impl<T: Real> RowLoss<T> for Drrl {
    fn gradient(&self, _: Phase, row: Row<'_, T>, _: T, grads: GradientBuffers<'_, T>) -> RowGradient<T> {
        let mean = self.power_mean(row);
        for (grad, &f) in grads.negatives.iter_mut().zip(row.negatives) {
            *grad = self.slope(&mean, f);
        }
        let missing = T::one() - row.positive;
        let positive = if missing > T::zero() { -T::one() } else { T::zero() };
        RowGradient { value: missing.max(T::zero()) + mean.value + mean.margin, positive }
    }

    fn quantile_gradient(&self, row: Row<'_, T>, _: Catalogue) -> T {
        let mean = self.power_mean(row);
        row.negatives.iter().fold(T::one(), |gradient, &f| gradient - self.slope(&mean, f))
    }
}

impl Loss for Drrl {
    fn set_quantile(&mut self, user: u32, value: f32) {
        *self.margin_of(user) = value.into();
    }

    fn learns_quantiles(&self) -> bool {
        true
    }

    fn step_quantiles(&mut self, gradients: &[(u32, f32)]) {
        for &(user, gradient) in gradients {
            let step = self.lr * f64::from(gradient);
            *self.margin_of(user) -= step;
        }
    }

    fn state(&self) -> State {
        State::from([(MARGINS.to_owned(), self.margins.clone())])
    }

    fn restore(&mut self, state: &State) -> bool {
        state.get(MARGINS).is_some_and(|margins| {
            self.margins.clone_from(margins);
            true
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{LOSSES, LossConfig};

    const NEGATIVES: [f64; 5] = [0.1, -0.7, 0.9, 0.35, 0.3];

    fn loss(settings: &str) -> Box<dyn Loss> {
        let table = format!("type = 'drrl'\n{settings}").parse().unwrap();
        LossConfig::from_table("loss", LOSSES, &table).unwrap().build()
    }

    fn row(user: u32, positive: f64) -> Row<'static, f64> {
        Row { user, positive, negatives: &NEGATIVES, features: &[], log_probs: &[] }
    }

    fn gradient(loss: &dyn Loss, row: Row<'_, f64>) -> (RowGradient<f64>, Vec<f64>) {
        let mut grads = vec![0.0; row.negatives.len()];
        let places = GradientBuffers { negatives: &mut grads, params: &mut [] };
        (RowLoss::<f64>::gradient(loss, Phase::Model, row, 1.0, places), grads)
    }

    #[test]
    fn the_value_is_that_of_the_formula() {
        for (omega, weight, margin) in [(1.5f64, 5.0, 0.2), (4.0, 2.0, -0.5), (1.02, 1.0, 0.0)] {
            let p = omega / (omega - 1.0);
            let powers = NEGATIVES.map(|f| (0.1 + weight * (f - margin).max(0.0)).powf(p));
            let expected = 0.6 + (powers.iter().sum::<f64>() / 5.0).powf(1.0 / p) + margin;
            let settings = format!("omega = {omega}\nnegative_weight = {weight:?}\nmargin = {margin:?}");
            let (found, _) = gradient(&*loss(&settings), row(0, 0.4));
            assert!((found.value - expected).abs() < 1e-12, "{} {expected}", found.value);
        }
    }

    /// At the margin that the steps come to, the value is smallest and the gradients of the negatives add up to one.
    #[test]
    fn margins_go_to_the_minimum_of_the_loss() {
        let mut loss = loss("margin_lr = 0.01");
        let catalogue = Catalogue { items: 10, positives: 1 };
        for _ in 0..3000 {
            let step = RowLoss::<f64>::quantile_gradient(&*loss, row(3, 0.4), catalogue);
            loss.step_quantiles(&[(3, step as f32)]);
        }
        let (found, grads) = gradient(&*loss, row(3, 0.4));
        assert!((grads.iter().sum::<f64>() - 1.0).abs() < 1e-3, "{grads:?}");
        let learned = loss.state()[MARGINS][3] as f32;
        for other in [learned - 0.02, learned + 0.02] {
            loss.set_quantile(3, other);
            assert!(gradient(&*loss, row(3, 0.4)).0.value > found.value);
        }
        assert_eq!(
            gradient(&*loss, row(0, 0.4)).0.value,
            gradient(&*loss, row(1, 0.4)).0.value,
            "other users"
        );
    }
}
