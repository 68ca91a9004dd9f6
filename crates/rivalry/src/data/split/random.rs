//! Per-user random split: `⌊share·n⌋` of a user's `n` items, but at least one if `n ≥ 2`.
//!
//! Each user draws from a stream of their own, so that users don't disturb one another.

use super::{Purpose, floor_share, per_user};
use crate::{data::events::Event, rng};

pub(super) fn hold_out(events: &[Event], share: f64, seed: u64, purpose: Purpose) -> Vec<bool> {
    per_user(events, |of_user| {
        let n = of_user.len();
        // A single item stays in training, where it can at least be learnt from.
        let count = floor_share(share, n).max(1).min(n - 1);
        let mut places: Vec<usize> = (0..n).collect();
        let mut rng = rng::stream(seed, &[purpose as u64, u64::from(of_user[0].user)]);
        rng::shuffle(&mut rng, &mut places);
        places.truncate(count);
        places
    })
}
