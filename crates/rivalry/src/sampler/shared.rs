//! Shared negatives: consecutive pairs of a batch take their negatives from one pool.
//!
//! Scoring is then a matrix product, which is faster than gathering rows. The negatives of a pair are still uniform over
//! the items its user has not seen, but those of two pairs with the same pool are nearly the same, so the gradient of a
//! step has a higher variance.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Entry, Sampler, TrainingSet};
use crate::data::Interactions;
use crate::params::{Param, Range, Search, Value};
use crate::rng::below;
use crate::{InputError, Result};

pub(super) const SHARED: Entry = Entry {
    name: "shared",
    summary: "uniform, from a pool shared by many pairs of a batch: faster, noisier gradients",
    params: &[PAIRS],
    build: |params, train, negatives| {
        check(train, negatives)?;
        Ok(Box::new(Shared { train: train.interactions, pairs: params.count(PAIRS.name) }))
    },
};

const PAIRS: Param = Param {
    name: "pairs",
    doc: "how many training pairs share a pool of negatives",
    default: Value::Count(128),
    range: Range::AtLeast(1.0),
    search: Search::NONE,
};

struct Shared<'a> {
    train: &'a Interactions,
    pairs: usize,
}

/// Free items that a pool is to hold for every user, on average.
const FREE: f64 = 20.0;

/// Refuses users who have so many items that a pool for so many negatives holds few free ones. Half of all items is never too many.
fn check(data: TrainingSet<'_>, negatives: usize) -> Result<()> {
    let train = data.interactions;
    let share = (1.0 - FREE / negatives as f64).max(0.5);
    let most = (share * train.n_items() as f64) as usize;
    let Some(user) = (0..train.n_users() as u32).find(|&u| train.count_of(u) > most) else {
        return Ok(());
    };
    let (name, has) = (data.users.original(user), train.count_of(user));
    let what = format!(
        "user '{name}' has {has} of {} items: too many to share {negatives} negatives",
        train.n_items()
    );
    Err(InputError::new(what).help("use sampler.type = \"uniform\", or more negatives").into())
}

impl Sampler for Shared<'_> {
    /// From all items: the pool serves many users.
    fn draw(&self, _user: u32, rng: &mut Xoshiro256PlusPlus, out: &mut [u32]) {
        let n_items = self.train.n_items() as u32;
        out.fill_with(|| below(rng, n_items));
    }

    /// After the user's items are left out of the pool, the rest is uniform over the free ones.
    fn log_probs(&self, user: u32, _items: &[u32], out: &mut [f32]) {
        let free = self.train.n_items() - self.train.items_of(user).len();
        out.fill(-(free as f64).ln() as f32);
    }

    fn pool(&self) -> Option<usize> {
        Some(self.pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::seeded;

    #[test]
    fn a_pool_is_drawn_evenly_from_all_items() {
        let train = Interactions::from_pairs(1, 12, (0..3).map(|item| (0, item)));
        let mut out = vec![0; 60_000];
        Shared { train: &train, pairs: 4 }.draw(0, &mut seeded(1), &mut out);
        let mut counts = [0u32; 12];
        out.iter().for_each(|&item| counts[item as usize] += 1);
        assert!(counts.iter().all(|count| count.abs_diff(5000) < 250), "{counts:?}");
    }
}
