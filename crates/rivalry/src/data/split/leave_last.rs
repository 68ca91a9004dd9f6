//! Leave-last-n-out: each user's latest `n` items, by time and then by place in the file.

use super::per_user;
use crate::data::events::Event;

pub(super) fn hold_out(events: &[Event], n: u32) -> Vec<bool> {
    per_user(events, |of_user| {
        let mut places: Vec<usize> = (0..of_user.len()).collect();
        places.sort_unstable_by_key(|&place| of_user[place].at);
        // At least one stays in training.
        places.split_off((of_user.len().saturating_sub(n as usize)).max(1))
    })
}
