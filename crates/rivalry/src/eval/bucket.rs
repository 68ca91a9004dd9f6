//! Popular and rare items apart: a mean over all hides which of them a model serves.

use super::Metrics;
use super::per_user::PerUser;
use crate::collective::Collective;
use crate::data::Interactions;
use crate::ranker::RankedLists;
use serde::{Deserialize, Serialize};

/// How well held-out items of one bucket were found, in the same lists that all items compete in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    /// How many users have a held-out item in the bucket: the mean is over these.
    pub users: usize,
    /// The means; empty if there is no such user.
    pub metrics: Metrics,
}

impl Bucket {
    /// Measures what `lists` found of the part of `held_out` that lies in the bucket `items`, and those of other processes.
    pub(super) fn measure(
        lists: &RankedLists,
        held_out: &Interactions,
        items: &[u32],
        (ks, collective): (&[usize], &dyn Collective),
    ) -> Self {
        let mut inside = vec![false; held_out.n_items()];
        items.iter().for_each(|&item| inside[item as usize] = true);
        let pairs = held_out.pairs().filter(|&(_, item)| inside[item as usize]);
        let held_out = Interactions::from_pairs(held_out.n_users(), held_out.n_items(), pairs);
        let sums = PerUser::measure(lists, &held_out, ks).sums(collective);
        let users = sums.users;
        Self { users, metrics: if users == 0 { Metrics::default() } else { sums.means(users) } }
    }
}

/// The head, a fifth of the items (`⌈0.2 · n⌉`) with the most interactions, and the tail, as many with the fewest.
///
/// Of equally frequent items the lower dense id counts as the more frequent one.
pub(super) fn head_and_tail(train: &Interactions) -> (Vec<u32>, Vec<u32>) {
    let counts = train.item_counts();
    let mut order: Vec<u32> = (0..counts.len() as u32).collect();
    order.sort_by_key(|&item| std::cmp::Reverse(counts[item as usize]));
    let size = order.len().div_ceil(5);
    (order[..size].to_vec(), order[order.len() - size..].to_vec())
}
