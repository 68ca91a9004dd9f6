//! Interactions as a sparse matrix.

use std::ops::Range;

use rayon::prelude::*;

/// A user × item matrix in compressed sparse row format: for each user their items, ascending and without duplicates.
///
/// Of several processes that train one model, each may have the rows of its own users alone
/// ([`held_users`](Self::held_users)); counts are then still those of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interactions {
    n_items: usize,
    /// Where each user's items begin in the list of all; one more for the end.
    offsets: Vec<usize>,
    items: Vec<u32>,
    /// Where the items that are here begin in the list of all.
    first: usize,
    /// What is known beside them, if these are the rows of some users only.
    share: Option<Share>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Share {
    users: Range<usize>,
    /// Those of all users.
    item_counts: Vec<u32>,
}

impl Interactions {
    /// A matrix without interactions.
    pub fn empty(n_users: usize, n_items: usize) -> Self {
        Self::from_rows(n_items, vec![0; n_users + 1], Vec::new())
    }

    /// Builds the matrix from (user, item) pairs in any order; duplicates are merged.
    ///
    /// # Panics
    /// If a user is not below `n_users` or an item is not below `n_items`.
    pub fn from_pairs(n_users: usize, n_items: usize, pairs: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut pairs: Vec<(u32, u32)> = pairs.into_iter().collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut offsets = vec![0; n_users + 1];
        for &(user, item) in &pairs {
            assert!((item as usize) < n_items, "item {item} of {n_items}");
            offsets[user as usize + 1] += 1;
        }
        for u in 0..n_users {
            offsets[u + 1] += offsets[u];
        }
        Self::from_rows(n_items, offsets, pairs.into_iter().map(|(_, item)| item).collect())
    }

    /// The matrix whose user `u` has the items at `offsets[u]..offsets[u + 1]`, ascending and without duplicates.
    pub(crate) fn from_rows(n_items: usize, offsets: Vec<usize>, items: Vec<u32>) -> Self {
        debug_assert_eq!(offsets.last(), Some(&items.len()));
        Self { n_items, offsets, items, first: 0, share: None }
    }

    /// The rows of some users: `items` are theirs, `offsets` and `item_counts` those of all.
    pub(crate) fn from_share(
        offsets: Vec<usize>,
        item_counts: Vec<u32>,
        users: Range<usize>,
        items: Vec<u32>,
    ) -> Self {
        let first = offsets[users.start];
        debug_assert_eq!(offsets[users.end] - first, items.len());
        let n_items = item_counts.len();
        Self { n_items, offsets, items, first, share: Some(Share { users, item_counts }) }
    }

    /// The same with the rows of these users instead: `items` are theirs.
    pub(crate) fn with_rows(self, users: Range<usize>, items: Vec<u32>) -> Self {
        let item_counts = self.item_counts();
        Self::from_share(self.offsets, item_counts, users, items)
    }

    /// The users whose rows are here: all of them, unless the rest is with other processes.
    pub fn held_users(&self) -> Range<u32> {
        match &self.share {
            Some(Share { users, .. }) => users.start as u32..users.end as u32,
            None => 0..self.n_users() as u32,
        }
    }

    /// The number of interactions that are here.
    pub fn held_len(&self) -> usize {
        self.items.len()
    }

    /// The interactions that are not held out, and those that are; `held_out` is in the order of all.
    pub(crate) fn partition(&self, held_out: &[bool]) -> [Self; 2] {
        const USERS: usize = 4096;
        let count = |user: usize| {
            held_out[self.offsets[user]..self.offsets[user + 1]].iter().filter(|out| **out).count()
        };
        let mut taken: Vec<usize> = vec![0; self.offsets.len()];
        taken[1..].par_iter_mut().enumerate().for_each(|(user, taken)| *taken = count(user));
        for user in 0..self.n_users() {
            taken[user + 1] += taken[user];
        }
        let kept: Vec<usize> = self.offsets.iter().zip(&taken).map(|(all, taken)| all - taken).collect();
        let mut items = [&kept, &taken].map(|offsets| vec![0; offsets[self.n_users()]]);
        let [kept_items, taken_items] = &mut items;
        let ends = |offsets: &[usize]| -> Vec<usize> {
            let last = self.n_users();
            (0..last).step_by(USERS).map(|first| offsets[last.min(first + USERS)] - offsets[first]).collect()
        };
        let blocks = split_slice(&self.items, &ends(&self.offsets)).into_par_iter();
        let blocks = blocks.zip(split_slice(held_out, &ends(&self.offsets)));
        let blocks = blocks.zip(split_slice_mut(kept_items, &ends(&kept)));
        blocks.zip(split_slice_mut(taken_items, &ends(&taken))).for_each(|(((items, out), kept), taken)| {
            // Without a branch that depends on what is held out, which is unpredictable.
            let (mut next_kept, mut next_taken) = (0, 0);
            for (&item, &out) in items.iter().zip(out) {
                if let Some(place) = kept.get_mut(next_kept) {
                    *place = item;
                }
                if let Some(place) = taken.get_mut(next_taken) {
                    *place = item;
                }
                next_kept += usize::from(!out);
                next_taken += usize::from(out);
            }
        });
        let [kept_items, taken_items] = items;
        [(kept, kept_items), (taken, taken_items)]
            .map(|(offsets, items)| Self::from_rows(self.n_items, offsets, items))
    }

    /// Where the items of one user are in the list of those that are here.
    pub(crate) fn row(&self, user: u32) -> Range<usize> {
        // Of a user whose row is elsewhere, this is outside of the list.
        let [from, to] = [0, 1].map(|next| self.offsets[user as usize + next].wrapping_sub(self.first));
        from..to
    }

    /// Where each user's items begin in the list of all; one more for the end.
    pub(crate) fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The items of all users.
    pub(crate) fn items(&self) -> &[u32] {
        &self.items
    }

    /// The number of users, including those without interactions.
    pub fn n_users(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of items, including those without interactions.
    pub fn n_items(&self) -> usize {
        self.n_items
    }

    /// The number of interactions of all users.
    pub fn len(&self) -> usize {
        self.offsets[self.n_users()]
    }

    /// Whether there are no interactions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of items of any user.
    pub fn count_of(&self, user: u32) -> usize {
        self.offsets[user as usize + 1] - self.offsets[user as usize]
    }

    /// The items of one user, ascending.
    ///
    /// # Panics
    /// If the row of this user is not here: [`held_users`](Self::held_users).
    pub fn items_of(&self, user: u32) -> &[u32] {
        &self.items[self.row(user)]
    }

    /// The rows of these users, as a table of their own.
    #[must_use]
    pub fn slice_users(&self, users: Range<usize>) -> Self {
        let offsets = &self.offsets[users.start..=users.end];
        let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
        let items = self.items[first - self.first..last - self.first].to_vec();
        Self::from_rows(self.n_items, offsets.iter().map(|offset| offset - first).collect(), items)
    }

    /// The rows of these users, in this order, as a table of their own.
    #[must_use]
    pub fn gather_users(&self, users: &[u32]) -> Self {
        let mut offsets = vec![0];
        let mut items = Vec::new();
        for &user in users {
            items.extend_from_slice(self.items_of(user));
            offsets.push(items.len());
        }
        Self::from_rows(self.n_items, offsets, items)
    }

    /// The same interactions by item: an item × user matrix.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let mut offsets = vec![0; self.n_items + 1];
        for &item in &self.items {
            offsets[item as usize + 1] += 1;
        }
        for item in 0..self.n_items {
            offsets[item + 1] += offsets[item];
        }
        let (mut next, mut users) = (offsets.clone(), vec![0; self.items.len()]);
        for (user, item) in self.pairs() {
            users[next[item as usize]] = user;
            next[item as usize] += 1;
        }
        Self::from_rows(self.n_users(), offsets, users)
    }

    /// Whether the user interacted with the item.
    pub fn contains(&self, user: u32, item: u32) -> bool {
        self.items_of(user).binary_search(&item).is_ok()
    }

    /// The (user, item) pairs that are here, sorted by user and then by item.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.held_users().flat_map(|u| self.items_of(u).iter().map(move |&i| (u, i)))
    }

    /// The number of users of each item, of all users.
    pub fn item_counts(&self) -> Vec<u32> {
        if let Some(Share { item_counts, .. }) = &self.share {
            return item_counts.clone();
        }
        let mut counts = vec![0; self.n_items];
        for &item in &self.items {
            counts[item as usize] += 1;
        }
        counts
    }
}

/// Consecutive slices of these sizes.
fn split_slice<'a, T>(mut slice: &'a [T], sizes: &[usize]) -> Vec<&'a [T]> {
    sizes.iter().filter_map(|&size| slice.split_off(..size)).collect()
}

/// Consecutive slices of these sizes.
pub(crate) fn split_slice_mut<'a, T>(mut slice: &'a mut [T], sizes: &[usize]) -> Vec<&'a mut [T]> {
    sizes.iter().filter_map(|&size| slice.split_off_mut(..size)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_sorted_merged_and_counted() {
        let table = Interactions::from_pairs(3, 4, [(2, 1), (0, 3), (2, 0), (2, 1)]);
        assert_eq!(table.pairs().collect::<Vec<_>>(), [(0, 3), (2, 0), (2, 1)]);
        assert_eq!((table.len(), table.items_of(1).len(), table.contains(2, 1)), (3, 0, true));
        assert_eq!(table.item_counts(), [1, 1, 0, 1]);
        assert_eq!(table.transposed(), Interactions::from_pairs(4, 3, [(3, 0), (0, 2), (1, 2)]));
        assert_eq!(table.transposed().transposed(), table);
        assert_eq!(table.gather_users(&[2, 0]), Interactions::from_pairs(2, 4, [(0, 0), (0, 1), (1, 3)]));
        let [kept, taken] = table.partition(&[true, false, true]);
        assert_eq!(kept.pairs().collect::<Vec<_>>(), [(2, 0)]);
        assert_eq!(taken.pairs().collect::<Vec<_>>(), [(0, 3), (2, 1)]);
        assert_eq!(table.slice_users(1..3), Interactions::from_pairs(2, 4, [(1, 0), (1, 1)]));
    }

    #[test]
    fn a_share_has_some_rows_and_all_counts() {
        let table = Interactions::from_pairs(4, 4, [(0, 3), (1, 0), (1, 1), (2, 1), (3, 2)]);
        let share = Interactions::from_share(table.offsets.clone(), table.item_counts(), 1..3, vec![0, 1, 1]);
        assert_eq!((share.len(), share.held_len(), share.held_users()), (5, 3, 1..3));
        assert_eq!(share.item_counts(), table.item_counts());
        assert_eq!(Vec::from_iter((0..4).map(|user| share.count_of(user))), [1, 2, 1, 1]);
        assert_eq!(share.pairs().collect::<Vec<_>>(), [(1, 0), (1, 1), (2, 1)]);
        assert_eq!((share.items_of(1), share.contains(2, 1)), (&[0, 1][..], true));
        assert_eq!(share.slice_users(1..3), table.slice_users(1..3));
        for elsewhere in [0, 3] {
            assert!(std::panic::catch_unwind(|| share.items_of(elsewhere).len()).is_err());
        }
    }
}
