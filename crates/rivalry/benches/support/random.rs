//! Data made in memory.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rivalry::data::{Dataset, Interactions};

/// Random training pairs, so many for each user; items have a long tail. Nothing is held out.
pub fn dataset(n_users: usize, n_items: usize, per_user: usize) -> Dataset {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let pairs = (0..n_users * per_user).map(|pair| {
        let unit = rng.next_u32() as f64 / 2f64.powi(32);
        ((pair % n_users) as u32, (unit.powi(3) * n_items as f64) as u32)
    });
    let train = Interactions::from_pairs(n_users, n_items, pairs);
    let none = Interactions::empty(n_users, n_items);
    Dataset {
        name: "random".to_owned(),
        users: (0..n_users).map(|id| id.to_string()).collect(),
        items: (0..n_items).map(|id| id.to_string()).collect(),
        train,
        valid: none.clone(),
        test: none,
        checksum: String::new(),
        notes: Vec::new(),
        warnings: Vec::new(),
        split: None,
        skipped: Default::default(),
    }
}
