//! Ids that are small numbers.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// Replaces numbers by their dense ids, in order of first appearance, and returns the numbers in that order.
pub(super) fn intern(column: &mut [u32]) -> Vec<u32> {
    let largest = column.iter().copied().max().unwrap_or(0) as usize;
    if largest < table_size(column.len()) {
        let mut dense = vec![u32::MAX; largest + 1];
        replace(column, |number, new| {
            let dense = &mut dense[number as usize];
            let first = *dense == u32::MAX;
            if first {
                *dense = new;
            }
            (*dense, first)
        })
    } else {
        let mut dense = HashMap::with_hasher(RandomState::default());
        replace(column, |number, new| {
            let dense = *dense.entry(number).or_insert(new);
            (dense, dense == new)
        })
    }
}

/// The size of the largest table of all numbers that takes little memory compared with a column of so many rows.
pub(super) fn table_size(rows: usize) -> usize {
    2 * rows.max(1 << 16)
}

/// Replaces each number by what `dense` returns for it and the next free dense id, and returns the numbers for which it
/// was used.
fn replace(column: &mut [u32], mut dense: impl FnMut(u32, u32) -> (u32, bool)) -> Vec<u32> {
    let mut numbers = Vec::new();
    for id in column {
        let (replaced, first) = dense(*id, numbers.len() as u32);
        if first {
            numbers.push(*id);
        }
        *id = replaced;
    }
    numbers
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
}
