//! Leave-last-n-out: each user's latest `n` items, by time and then by position in the file.

use super::per_user;
use crate::log::Log;

pub(super) fn hold_out(log: &Log, n: u32) -> Vec<bool> {
    per_user(log, |_, at, numbers| {
        numbers.sort_unstable_by_key(|&number| at[number as usize]);
        // At least one stays in training.
        numbers.drain(..numbers.len().saturating_sub(n as usize).max(1));
    })
}
