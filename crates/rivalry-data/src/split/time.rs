//! Global time split: the latest `⌊share·pairs⌋` pairs of all users, by time and then by position in the file.
//!
//! Users and items that first appear after the cut are unseen in training, as in production.

use super::floor_share;
use crate::log::{At, Log};

pub(super) fn hold_out(log: &Log, share: f64) -> Vec<bool> {
    let at = log.at.as_deref().unwrap_or_default();
    match floor_share(share, at.len()) {
        0 => vec![false; at.len()],
        count => since(log, latest(at, count)),
    }
}

/// The pairs from this moment on.
pub(super) fn since(log: &Log, cut: At) -> Vec<bool> {
    log.at.iter().flatten().map(|at| *at >= cut).collect()
}

/// The earliest of the latest `count`; no two have the same position. Times and positions are selected one after the other,
/// which takes less memory than both together.
fn latest(at: &[At], count: usize) -> At {
    let mut times: Vec<i64> = at.iter().map(|(time, _)| *time).collect();
    let (_, &mut time, later) = times.select_nth_unstable(at.len() - count);
    let later = later.iter().filter(|other| **other > time).count();
    drop(times);
    let same = at.iter().filter(|(other, _)| *other == time);
    let mut positions: Vec<usize> = same.map(|(_, position)| *position).collect();
    let from_end = positions.len() - (count - later);
    let (_, &mut position, _) = positions.select_nth_unstable(from_end);
    (time, position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_decided_by_position() {
        let at = [(5, 3), (5, 0), (7, 1), (-2, 2), (5, 9), (7, 4)];
        let mut sorted = at.to_vec();
        sorted.sort_unstable();
        for count in 1..=at.len() {
            assert_eq!(latest(&at, count), sorted[at.len() - count], "{count}");
        }
    }
}
