//! Global time split: the latest `⌊share·pairs⌋` pairs of all, by time and then by place in the file.
//!
//! Users and items that first appear after the cut are unseen in training, as they would be in use.

use super::floor_share;
use crate::data::events::Event;

pub(super) fn hold_out(events: &[Event], share: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..events.len()).collect();
    order.sort_unstable_by_key(|&e| events[e].at);
    let mut held_out = vec![false; events.len()];
    for &e in &order[events.len() - floor_share(share, events.len())..] {
        held_out[e] = true;
    }
    held_out
}
