//! Who interacted with what: a compressed sparse row table of dense ids.

/// For each user the items they interacted with, ascending and without repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interactions {
    n_items: usize,
    offsets: Vec<usize>,
    items: Vec<u32>,
}

impl Interactions {
    /// No interactions among `n_users` users and `n_items` items.
    pub fn empty(n_users: usize, n_items: usize) -> Self {
        Self { n_items, offsets: vec![0; n_users + 1], items: Vec::new() }
    }

    /// Builds the table from pairs in any order; repeats are merged.
    ///
    /// # Panics
    /// If a user or an item is not below its count: dense ids come from an id map, which can't give such a one.
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
        Self { n_items, offsets, items: pairs.into_iter().map(|(_, item)| item).collect() }
    }

    /// How many users the table has rows for, those without interactions included.
    pub fn n_users(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many items there are, those without interactions included.
    pub fn n_items(&self) -> usize {
        self.n_items
    }

    /// How many interactions.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items of one user, ascending.
    pub fn items_of(&self, user: u32) -> &[u32] {
        &self.items[self.offsets[user as usize]..self.offsets[user as usize + 1]]
    }

    /// The rows of these users, as a table of their own.
    #[must_use]
    pub fn slice_users(&self, users: std::ops::Range<usize>) -> Self {
        let offsets = &self.offsets[users.start..=users.end];
        let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
        Self {
            n_items: self.n_items,
            offsets: offsets.iter().map(|offset| offset - first).collect(),
            items: self.items[first..last].to_vec(),
        }
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
        Self { n_items: self.n_items, offsets, items }
    }

    /// Whether the user interacted with the item.
    pub fn contains(&self, user: u32, item: u32) -> bool {
        self.items_of(user).binary_search(&item).is_ok()
    }

    /// All pairs, by user and then by item.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.n_users() as u32).flat_map(|u| self.items_of(u).iter().map(move |&i| (u, i)))
    }

    /// How many users interacted with each item.
    pub fn item_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.n_items];
        for &item in &self.items {
            counts[item as usize] += 1;
        }
        counts
    }
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
        assert_eq!(table.gather_users(&[2, 0]), Interactions::from_pairs(2, 4, [(0, 0), (0, 1), (1, 3)]));
        assert_eq!(table.slice_users(1..3), Interactions::from_pairs(2, 4, [(1, 0), (1, 1)]));
    }
}
