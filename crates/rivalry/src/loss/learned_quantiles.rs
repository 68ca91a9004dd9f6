//! A quantile of the scores for each user, learned from the scores of every step.
//!
//! β_u is to be the score that K of the |I| items exceed. It starts at 0 and takes Adam steps on the pinball loss at level
//! `t = K/|I|`, `(1-t) max(f-β, 0) + t max(β-f, 0)`, averaged over the catalogue. Its derivative is `t - [f > β]`, which is zero on
//! average where the share t of the items is above β.

use rivalry_kernels::Real;

use super::{Catalogue, Row, State};

/// The quantiles of all users, with their moments.
#[derive(Clone, Debug)]
pub(super) struct LearnedQuantiles {
    k: usize,
    lr: f64,
    users: Vec<Quantile>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Quantile {
    value: f64,
    first: f64,
    second: f64,
    steps: f64,
}

/// The names of the parts of a quantile in a saved state.
const PARTS: [&str; 4] = ["quantiles", "first", "second", "steps"];

impl LearnedQuantiles {
    pub fn new(k: usize, lr: f64) -> Self {
        Self { k, lr, users: Vec::new() }
    }

    /// The quantile of a user.
    pub fn value<T: Real>(&self, user: u32) -> T {
        T::of(self.users.get(user as usize).map_or(0.0, |quantile| quantile.value))
    }

    /// The gradient of the pinball loss on one row: the positive stands for all training items of the user, the negatives for
    /// the other items.
    pub fn gradient<T: Real>(&self, row: Row<'_, T>, catalogue: Catalogue) -> T {
        let quantile: T = self.value(row.user);
        let level = (self.k as f64 / catalogue.items as f64).min(1.0);
        let positives = catalogue.positives as f64 / catalogue.items as f64;
        let above = row.negatives.iter().filter(|&&f| f > quantile).count() as f64;
        let of_positive = level - f64::from(u8::from(row.positive > quantile));
        let of_negatives = level - above / row.negatives.len() as f64;
        T::of(positives * of_positive + (1.0 - positives) * of_negatives)
    }

    /// One Adam step of each user of the batch, along the mean of the gradients of the user's rows.
    pub fn step(&mut self, gradients: &[(u32, f32)]) {
        let mut by_user = gradients.to_vec();
        by_user.sort_by_key(|&(user, _)| user);
        for rows in by_user.chunk_by(|a, b| a.0 == b.0) {
            let mean = rows.iter().map(|&(_, g)| f64::from(g)).sum::<f64>() / rows.len() as f64;
            let lr = self.lr;
            self.of_user(rows[0].0).step(mean, lr);
        }
    }

    /// Sets the quantile of a user.
    pub fn set(&mut self, user: u32, value: f64) {
        self.of_user(user).value = value;
    }

    fn of_user(&mut self, user: u32) -> &mut Quantile {
        let user = user as usize;
        if self.users.len() <= user {
            self.users.resize(user + 1, Quantile::default());
        }
        &mut self.users[user]
    }

    pub fn state(&self) -> State {
        let parts = [
            |quantile: &Quantile| quantile.value,
            |quantile: &Quantile| quantile.first,
            |quantile: &Quantile| quantile.second,
            |quantile: &Quantile| quantile.steps,
        ];
        let all = |part: fn(&Quantile) -> f64| self.users.iter().map(part).collect();
        PARTS.into_iter().zip(parts).map(|(name, part)| (name.to_owned(), all(part))).collect()
    }

    pub fn restore(&mut self, state: &State) -> bool {
        let [Some(values), Some(first), Some(second), Some(steps)] = PARTS.map(|name| state.get(name)) else {
            return false;
        };
        if [first, second, steps].iter().any(|part| part.len() != values.len()) {
            return false;
        }
        let quantile =
            |n: usize| Quantile { value: values[n], first: first[n], second: second[n], steps: steps[n] };
        self.users = (0..values.len()).map(quantile).collect();
        true
    }
}

impl Quantile {
    fn step(&mut self, gradient: f64, lr: f64) {
        self.steps += 1.0;
        self.first = 0.9 * self.first + 0.1 * gradient;
        self.second = 0.999 * self.second + 0.001 * gradient * gradient;
        let [first, second] =
            [self.first / (1.0 - 0.9f64.powf(self.steps)), self.second / (1.0 - 0.999f64.powf(self.steps))];
        self.value -= lr * first / (second.sqrt() + 1e-8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{below, seeded};

    /// With scores that stay as they are, the quantile comes to the score that K items exceed.
    #[test]
    fn k_items_of_the_catalogue_are_above_the_quantile() {
        const ITEMS: usize = 200;
        let score = |item: usize| ((item * 37) % ITEMS) as f64 / ITEMS as f64 - 0.3;
        // The user's items are spread over all scores.
        let positives: Vec<usize> = (0..ITEMS).step_by(10).collect();
        let free: Vec<usize> = (0..ITEMS).filter(|item| item % 10 > 0).collect();
        for k in [5, 20, 80] {
            let mut quantiles = LearnedQuantiles::new(k, 1e-3);
            let mut random = seeded(k as u64);
            for _ in 0..20_000 {
                let positive = score(positives[below(&mut random, positives.len() as u32) as usize]);
                let negatives: Vec<f64> =
                    (0..50).map(|_| score(free[below(&mut random, free.len() as u32) as usize])).collect();
                let row = Row { user: 2, positive, negatives: &negatives, features: &[], log_probs: &[] };
                let catalogue = Catalogue { items: ITEMS, positives: positives.len() };
                let gradient = quantiles.gradient(row, catalogue);
                quantiles.step(&[(2, gradient as f32)]);
            }
            let found: f64 = quantiles.value(2);
            let above = (0..ITEMS).filter(|&item| score(item) > found).count();
            assert!(above.abs_diff(k) <= 4, "{above} items are above the quantile of {k}");
            assert_eq!(quantiles.value::<f64>(7), 0.0, "another user");
        }
    }

    #[test]
    fn rows_of_one_user_count_as_their_mean() {
        let [mut one, mut other] = [(); 2].map(|()| LearnedQuantiles::new(20, 0.1));
        one.step(&[(1, 0.5), (0, -0.25), (1, 0.25)]);
        other.step(&[(0, -0.25), (1, 0.375)]);
        assert_eq!(one.state(), other.state());
    }
}
