//! Global time split: the latest `⌊share·pairs⌋` pairs of all users, by time and then by position in the file.
//!
//! Users and items that first appear after the cut are unseen in training, as in production.

use super::floor_share;
use crate::log::Log;

pub(super) fn hold_out(log: &Log, share: f64) -> Vec<bool> {
    let at = log.at.as_deref().unwrap_or_default();
    match floor_share(share, at.len()) {
        0 => vec![false; at.len()],
        count => {
            // No two pairs have the same position, so the earliest that is held out decides for all.
            let mut sorted = at.to_vec();
            let (_, &mut cut, _) = sorted.select_nth_unstable(at.len() - count);
            at.iter().map(|at| *at >= cut).collect()
        }
    }
}
