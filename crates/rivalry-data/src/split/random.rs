//! Per-user random split: `⌊share·n⌋` of a user's `n` items, but at least one if `n ≥ 2`.
//!
//! Each user has a random stream of their own, so the choice doesn't depend on other users.

use super::{floor_share, per_user};
use crate::log::Interaction;
use crate::rng::{Purpose, shuffle, stream};

pub(super) fn hold_out(interactions: &[Interaction], share: f64, seed: u64, purpose: Purpose) -> Vec<bool> {
    per_user(interactions, |of_user| {
        let n = of_user.len();
        // A user's only item stays in training.
        let count = floor_share(share, n).max(1).min(n - 1);
        let mut order: Vec<usize> = (0..n).collect();
        shuffle(&mut stream(seed, purpose, &[u64::from(of_user[0].user)]), &mut order);
        order.truncate(count);
        order
    })
}
