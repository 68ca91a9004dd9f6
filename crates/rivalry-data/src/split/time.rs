//! Global time split: the latest `⌊share·pairs⌋` pairs of all users, by time and then by position in the file.
//!
//! Users and items that first appear after the cut are unseen in training, as in production.

use super::floor_share;
use crate::log::Interaction;

pub(super) fn hold_out(interactions: &[Interaction], share: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..interactions.len()).collect();
    order.sort_unstable_by_key(|&index| interactions[index].at);
    let mut held_out = vec![false; interactions.len()];
    for &index in &order[interactions.len() - floor_share(share, interactions.len())..] {
        held_out[index] = true;
    }
    held_out
}
