//! Shared negatives: a stretch of the batch draws one pool, and each of its pairs takes from that.
//!
//! Scoring is then a matrix product, which is faster than picking rows. The negatives of a pair are still uniform
//! over the items its user has not seen, but those of two pairs of a stretch are nearly the same, so the gradient of a
//! step varies more.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Entry, Sampler};
use crate::config::{Param, Range, Value};
use crate::data::{Dataset, Interactions};
use crate::rng::below;
use crate::{InputError, Result};

pub(super) const SHARED: Entry = Entry {
    name: "shared",
    summary: "uniform, but the same pool for a stretch of the batch: faster, and a noisier gradient",
    params: &[PAIRS],
    build: |params| Box::new(Shared { pairs: params.count(PAIRS.name) }),
};

const PAIRS: Param = Param {
    name: "pairs",
    doc: "how many training pairs share a pool of negatives",
    default: Value::Count(128),
    range: Range::AtLeast(1.0),
    grid: &[],
};

struct Shared {
    pairs: usize,
}

impl Sampler for Shared {
    fn check(&self, dataset: &Dataset, _negatives: usize) -> Result<()> {
        let train = &dataset.train;
        // A pool misses the free items of a user who has nearly all of them too often to be of use.
        let most = train.n_items() / 2;
        let Some(user) = (0..train.n_users() as u32).find(|&u| train.items_of(u).len() > most) else {
            return Ok(());
        };
        let (name, has) = (dataset.users.original(user), train.items_of(user).len());
        let what =
            format!("user '{name}' has {has} of {} items: too many to share negatives", train.n_items());
        Err(InputError::new(what).help("use sampler.type = \"uniform\"").into())
    }

    fn draw(&self, train: &Interactions, _user: u32, rng: &mut Xoshiro256PlusPlus, out: &mut [u32]) {
        let n_items = train.n_items() as u32;
        out.fill_with(|| below(rng, n_items));
    }

    fn sharing(&self) -> Option<usize> {
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
        Shared { pairs: 4 }.draw(&train, 0, &mut seeded(1), &mut out);
        let mut counts = [0u32; 12];
        out.iter().for_each(|&item| counts[item as usize] += 1);
        assert!(counts.iter().all(|count| count.abs_diff(5000) < 250), "{counts:?}");
    }
}
