//! Per-user random split: `⌊share·n⌋` of a user's `n` items, but at least one if `n ≥ 2`.
//!
//! Each user has a random stream of their own, so the choice doesn't depend on other users.

use super::{floor_share, per_user};
use crate::log::Log;
use crate::rng::{Purpose, shuffle, stream};

pub(super) fn hold_out(log: &Log, share: f64, seed: u64, purpose: Purpose) -> Vec<bool> {
    per_user(log, |user, _, numbers| {
        let n = numbers.len();
        // A user's only item stays in training.
        let count = floor_share(share, n).max(1).min(n - 1);
        shuffle(&mut stream(seed, purpose, &[u64::from(user)]), numbers);
        numbers.truncate(count);
    })
}
