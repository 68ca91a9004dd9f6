//! Ids that are small numbers.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// The dense ids of numbers, in order of first appearance.
pub(super) struct Numbers {
    /// By number, for those below `limit`; `u32::MAX` for those that have none yet.
    near: Vec<u32>,
    /// For the others.
    far: HashMap<u32, u32, RandomState>,
    limit: usize,
    /// The numbers by their dense ids.
    pub in_order: Vec<u32>,
}

impl Numbers {
    /// Numbers below `limit` are looked up in a table of that size at most.
    pub fn new(limit: usize) -> Self {
        let far = HashMap::with_hasher(RandomState::default());
        Self { near: Vec::new(), far, limit, in_order: Vec::new() }
    }

    /// Replaces numbers by their dense ids.
    pub fn replace(&mut self, column: &mut [u32]) {
        let largest = column.iter().copied().max().map_or(0, |number| number as usize + 1);
        if largest.min(self.limit) > self.near.len() {
            self.near.resize(largest.min(self.limit), u32::MAX);
        }
        for id in column {
            let new = self.in_order.len() as u32;
            let dense = match self.near.get_mut(*id as usize) {
                Some(dense) => dense,
                None => self.far.entry(*id).or_insert(u32::MAX),
            };
            if *dense == u32::MAX {
                *dense = new;
                self.in_order.push(*id);
            }
            *id = *dense;
        }
    }

    /// About how much memory they take.
    pub fn bytes(&self) -> usize {
        // A slot of a hash table is one byte more than its content, and at least one in eight is free.
        4 * (self.near.capacity() + self.in_order.capacity()) + self.far.capacity() * 9 * 8 / 7
    }
}

/// Replaces numbers by their dense ids, in order of first appearance, and returns the numbers in that order.
pub(super) fn intern(column: &mut [u32]) -> Vec<u32> {
    let mut numbers = Numbers::new(table_size(column.len()));
    numbers.replace(column);
    numbers.in_order
}

/// The size of the largest table of all numbers that takes little memory compared with a column of so many rows.
pub(super) fn table_size(rows: usize) -> usize {
    2 * rows.max(1 << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_close_together_and_far_apart_get_the_same_dense_ids() {
        for factor in [1, 1 << 20] {
            let mut column = [5, 0, 5, 9, 0, 7].map(|number| number * factor);
            assert_eq!(intern(&mut column), [5, 0, 9, 7].map(|number| number * factor));
            assert_eq!(column, [0, 1, 0, 2, 1, 3]);
        }
        assert!(intern(&mut []).is_empty());
    }

    #[test]
    fn dense_ids_are_kept_from_one_column_to_the_next() {
        let (mut first, mut second) = ([7, 4_000_000_000, 2], [2, 900, 4_000_000_000, 7]);
        let mut numbers = Numbers::new(100);
        numbers.replace(&mut first);
        numbers.replace(&mut second);
        assert_eq!((first, second), ([0, 1, 2], [2, 3, 1, 0]));
        assert_eq!(numbers.in_order, [7, 4_000_000_000, 2, 900]);
    }
}
