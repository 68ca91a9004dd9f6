//! The negatives that a stretch of a batch shares.

use rayon::prelude::*;
use rivalry_kernels::{LANES, Lane, Matrix, ZERO};

use super::Batch;
use super::item_set::ItemSet;
use super::selection::Selection;

/// Panels of a pool that a task packs at a time.
pub(super) const PACKED: usize = 8;

/// Users whose items a task looks for in a pool at a time.
const USERS: usize = 64;

/// The negatives of one stretch of the batch, and the memory it works in.
#[derive(Clone, Default)]
pub(super) struct Pool {
    pub items: Vec<u32>,
    /// The row of the table for each item.
    pub table_rows: Vec<u32>,
    /// The same with their places in the pool, in the order of the rows.
    pub by_row: Vec<(u32, u32)>,
    members: ItemSet,
    /// For each row of the stretch the places of its user's items, ascending: where they start in `seen`, and they.
    starts: Vec<usize>,
    seen: Vec<u32>,
    /// How many panels of items the stretch uses.
    n_panels: usize,
    /// The pool's rows of a table, and the address of that table.
    pub rows: Vec<Lane>,
    rows_of: usize,
    pub panels: Vec<Lane>,
    pub grads: Vec<Lane>,
}

impl Pool {
    /// Finds for each user which places hold one of their items, and how much of the pool is used.
    pub fn find_seen(&mut self, batch: Batch<'_>, users: &[u32], n: usize) {
        let Self { items, table_rows, by_row: by_item, members, starts, seen, .. } = self;
        table_rows.clone_from(items);
        by_item.clear();
        by_item.extend(items.iter().copied().zip(0..));
        by_item.sort_unstable();
        members.reserve(batch.train.n_items());
        items.iter().for_each(|&item| members.insert(item));
        starts.clear();
        starts.push(0);
        seen.clear();
        // The places of each user's items, and how many there are.
        let found: Vec<(Vec<u32>, Vec<usize>)> = users
            .par_chunks(USERS)
            .map(|users| {
                let (mut seen, mut counts) = (Vec::new(), Vec::with_capacity(users.len()));
                for &user in users {
                    let start = seen.len();
                    for &item in batch.train.items_of(user).iter().filter(|&&item| members.contains(item)) {
                        let first = by_item.partition_point(|&(other, _)| other < item);
                        let same = by_item[first..].iter().take_while(|&&(other, _)| other == item);
                        seen.extend(same.map(|&(_, place)| place));
                    }
                    seen[start..].sort_unstable();
                    counts.push(seen.len() - start);
                }
                (seen, counts)
            })
            .collect();
        let mut end = n;
        for (places, counts) in found {
            seen.extend(places);
            for count in counts {
                let start = starts[starts.len() - 1];
                end = end.max(Selection::new(&seen[start..start + count], n, items.len()).end());
                starts.push(start + count);
            }
        }
        items.iter().for_each(|&item| members.remove(item));
        self.n_panels = end.div_ceil(LANES);
    }

    /// The negatives of a row of the stretch.
    pub fn selection(&self, row: usize, n: usize) -> Selection<'_> {
        Selection::new(&self.seen[self.starts[row]..self.starts[row + 1]], n, self.items.len())
    }

    /// Items that the stretch uses, in whole panels.
    pub fn width(&self) -> usize {
        self.n_panels * LANES
    }

    /// Whether the rows of the pool's items are copies of this table's. The address of a table identifies it within a
    /// step; a new step starts with `pack`, which copies in any case.
    pub fn has_rows_of(&self, table: &Matrix) -> bool {
        self.rows_of == std::ptr::from_ref(table).addr()
    }

    /// Copies the rows of the pool's items.
    pub fn copy_rows(&mut self, table: &Matrix) {
        let lanes = table.lanes();
        self.rows_of = std::ptr::from_ref(table).addr();
        self.rows.resize(self.width() * lanes, ZERO);
        let table_rows = self.table_rows[..self.width()].par_chunks(PACKED * LANES);
        let blocks = self.rows.par_chunks_mut(PACKED * LANES * lanes).zip(table_rows);
        blocks.for_each(|(rows, table_rows)| {
            for (copy, &row) in rows.chunks_exact_mut(lanes).zip(table_rows) {
                copy.copy_from_slice(table.row_lanes(row as usize));
            }
        });
    }
}
