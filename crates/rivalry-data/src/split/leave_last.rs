//! Leave-last-n-out: each user's latest `n` items, by time and then by position in the file.

use super::per_user;
use crate::log::Interaction;

pub(super) fn hold_out(interactions: &[Interaction], n: u32) -> Vec<bool> {
    per_user(interactions, |of_user| {
        let mut order: Vec<usize> = (0..of_user.len()).collect();
        order.sort_unstable_by_key(|&index| of_user[index].at);
        // At least one stays in training.
        order.split_off((of_user.len().saturating_sub(n as usize)).max(1))
    })
}
