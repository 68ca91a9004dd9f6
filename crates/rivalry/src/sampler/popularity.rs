//! Negatives by popularity: an item is drawn with a probability proportional to a power of its training count.
//!
//! Popular negatives are harder, and drawing them more often makes a small sample more informative. It also biases the
//! softmax towards rare items; the log-q correction (`loss.log_q = true`) removes that bias.
//!
//! Y. Bengio and J.-S. Senécal, Adaptive Importance Sampling to Accelerate Training of a Neural Probabilistic Language
//! Model, IEEE TNN 2008; X. Yi et al., Sampling-Bias-Corrected Neural Modeling for Large Corpus Item Recommendations,
//! RecSys 2019.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::alias::AliasTable;
use super::{Entry, Sampler, TrainingSet};
use crate::data::Interactions;
use crate::params::{Param, Range, Search, Value};
use crate::{InputError, Result};

pub(super) const POPULARITY: Entry = Entry {
    name: "popularity",
    summary: "by a power of the items' training counts, over the items the user has no training interaction with",
    params: &[POWER],
    build: |params, train, _| Ok(Box::new(Popularity::new(params.number(POWER.name), train)?)),
};

const POWER: Param = Param {
    name: "power",
    doc: "exponent of the training count: 0 is uniform, 1 proportional to the count",
    default: Value::Number(0.75),
    range: Range::AtLeast(0.0),
    search: Search::listed(&[0.25, 0.5, 0.75, 1.0]),
};

struct Popularity<'a> {
    train: &'a Interactions,
    table: AliasTable,
    weights: Vec<f64>,
    total: f64,
}

impl<'a> Popularity<'a> {
    fn new(power: f64, data: TrainingSet<'a>) -> Result<Self> {
        let train = data.interactions;
        let most = f64::from(train.item_counts().into_iter().max().unwrap_or(1).max(1));
        // Relative to the largest count no power can overflow.
        let weight = |count: u32| (f64::from(count) / most).powf(power);
        let weights: Vec<f64> = train.item_counts().into_iter().map(weight).collect();
        let total: f64 = weights.iter().sum();
        let sampler = Self { train, table: AliasTable::new(&weights), weights, total };
        let users = train.held_users().filter(|&user| train.count_of(user) > 0);
        match users.into_iter().find(|&user| sampler.free_weight(user) <= 0.0) {
            None => Ok(sampler),
            Some(user) => {
                let name = data.users.original(user);
                let what = format!("user '{name}' has interacted with every item that can be drawn");
                Err(InputError::new(what)
                    .field("sampler")
                    .help("remove the user, or use sampler.type = \"uniform\"")
                    .into())
            }
        }
    }

    /// The weight of the items that the user has not interacted with.
    fn free_weight(&self, user: u32) -> f64 {
        let taken: f64 = self.train.items_of(user).iter().map(|&item| self.weights[item as usize]).sum();
        let free = self.total - taken;
        // Below rounding error nothing is free.
        if free > self.total * 1e-12 { free } else { 0.0 }
    }

    /// Draws by a walk over the weights of the free items: for users who have taken most of the weight.
    fn draw_by_walk(&self, user: u32, rng: &mut impl Rng, out: &mut [u32]) {
        let taken = self.train.items_of(user);
        let free: Vec<u32> = (0..self.weights.len() as u32)
            .filter(|item| self.weights[*item as usize] > 0.0 && taken.binary_search(item).is_err())
            .collect();
        let table =
            AliasTable::new(&free.iter().map(|&item| self.weights[item as usize]).collect::<Vec<_>>());
        out.fill_with(|| free[table.draw(rng) as usize]);
    }
}

impl Sampler for Popularity<'_> {
    fn draw(&self, user: u32, rng: &mut Xoshiro256PlusPlus, out: &mut [u32]) {
        let taken = self.train.items_of(user);
        if self.free_weight(user) < self.total / 4.0 {
            return self.draw_by_walk(user, rng, out);
        }
        for place in out {
            *place = loop {
                let item = self.table.draw(rng);
                if taken.binary_search(&item).is_err() {
                    break item;
                }
            };
        }
    }

    fn log_probs(&self, user: u32, items: &[u32], out: &mut [f32]) {
        let free = self.free_weight(user);
        for (log_prob, &item) in out.iter_mut().zip(items) {
            *log_prob = (self.weights[item as usize] / free).ln() as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::seeded;
    use crate::sampler::tests::dataset;

    #[test]
    fn items_are_drawn_as_often_as_their_log_probability_says() {
        // Item i has i + 1 interactions; user 0 has the items 0 and 5, user 1 has nearly everything.
        let pairs = (0..8u32).flat_map(|item| (0..=item).map(move |n| (10 + item * 8 + n, item)));
        let pairs = pairs.chain([(0, 0), (0, 5)]).chain((1..8).map(|item| (1, item)));
        let dataset = dataset(80, 8, pairs);
        for (power, user) in [(0.0, 0), (0.75, 0), (1.0, 0), (1.0, 1)] {
            let sampler = Popularity::new(power, (&dataset).into()).unwrap();
            let mut drawn = vec![0; 100_000];
            sampler.draw(user, &mut seeded(3), &mut drawn);
            let mut log_probs = [0.0; 8];
            sampler.log_probs(user, &[0, 1, 2, 3, 4, 5, 6, 7], &mut log_probs);
            for (item, log_prob) in (0..).zip(log_probs) {
                let share = drawn.iter().filter(|&&other| other == item).count() as f32 / drawn.len() as f32;
                let expected = if dataset.train.contains(user, item) { 0.0 } else { log_prob.exp() };
                assert!((share - expected).abs() < 0.01, "power {power}, user {user}, item {item}");
            }
        }
    }

    #[test]
    fn a_user_with_every_item_that_has_weight_is_refused_by_name() {
        let dataset = dataset(2, 4, [(0, 1), (0, 2), (1, 1)]);
        let error = Popularity::new(1.0, (&dataset).into()).err().unwrap().to_string();
        assert!(error.contains("user '0' has interacted with every item"), "{error}");
        assert!(Popularity::new(0.0, (&dataset).into()).is_ok());
    }
}
