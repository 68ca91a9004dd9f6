//! Data made in memory.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rivalry::data::{Dataset, IdMap, Interactions, Parts};

/// Random training pairs, so many for each user; items have a long tail. Nothing is held out.
pub fn dataset(n_users: usize, n_items: usize, per_user: usize) -> Dataset {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let pairs = (0..n_users * per_user).map(|pair| {
        let unit = rng.next_u32() as f64 / 2f64.powi(32);
        ((pair % n_users) as u32, (unit.powi(3) * n_items as f64) as u32)
    });
    let train = Interactions::from_pairs(n_users, n_items, pairs);
    let none = Interactions::empty(n_users, n_items);
    let ids = |n: usize| (0..n).map(|id| id.to_string()).collect::<IdMap>();
    let parts = Parts { train, valid: none.clone(), test: none };
    Dataset::new("random", ids(n_users), ids(n_items), parts, vec![]).expect("all parts have these sizes")
}
