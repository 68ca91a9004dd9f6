//! The item gradients of shards, summed in a fixed tree that does not depend on the number of processes.
//!
//! The shards `0..n` are the root of a binary tree: a node splits at the largest power of two that leaves something on its
//! right. A process adds up the largest nodes that lie in its own shards. The rest of the tree is done by each process for its
//! part of the items: it gets the rows of these from the others, and gives them the sums. So a table takes as many bytes as by any
//! other order of summation, whatever the number of processes.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Instant;

use rayon::prelude::*;
use rivalry_kernels::{Lane, Matrix, ZERO, add_weighted_rows};

use super::tables::Tables;
use crate::collective::{Collective, gathered};

/// Rows that a task adds up.
const ROWS: usize = 256;

/// The count of rows that are not listed.
const ALL: u64 = u64::MAX;

/// Gradients of items.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ItemGrads {
    /// The items, ascending and each once; `None` if any item may have a gradient.
    pub items: Option<Vec<u32>>,
    /// Their rows; those of all items if there is no list.
    pub rows: Matrix,
}

impl ItemGrads {
    /// No gradients: of a shard without pairs in the batch.
    pub fn none(dim: usize) -> Self {
        Self { items: Some(Vec::new()), rows: Matrix::zeros(0, dim) }
    }

    /// Takes the gradients of these items out of a table, which is zero afterwards.
    pub fn take(table: &mut Matrix, items: Option<&[u32]>, tables: &mut Tables) -> Self {
        let Some(items) = items else {
            let empty = tables.zeros(table.rows(), table.cols());
            return Self { items: None, rows: std::mem::replace(table, empty) };
        };
        let mut rows = tables.any(items.len(), table.cols());
        for (place, &item) in items.iter().enumerate() {
            let row = table.row_lanes_mut(item as usize);
            rows.row_lanes_mut(place).copy_from_slice(row);
            row.fill(ZERO);
        }
        Self { items: Some(items.to_vec()), rows }
    }

    /// Puts the gradients into a table of zeros, and returns the list of items.
    pub fn put(self, table: &mut Matrix, tables: &mut Tables) -> Option<Vec<u32>> {
        let Self { items, mut rows } = self;
        match &items {
            None => std::mem::swap(table, &mut rows),
            Some(items) => {
                for (place, &item) in items.iter().enumerate() {
                    table.row_lanes_mut(item as usize).copy_from_slice(rows.row_lanes(place));
                }
            }
        }
        tables.keep(rows);
        items
    }

    /// The sum of both, of which not both are listed.
    fn plus(mut self, other: Self, tables: &mut Tables) -> Self {
        match (&self.items, &other.items) {
            (Some(_), _) => return other.plus(self, tables),
            (None, None) => {
                let block = ROWS * self.rows.lanes();
                let blocks = self.rows.as_lanes_mut().par_chunks_mut(block);
                // To the kernel a block is one long row.
                blocks
                    .zip(other.rows.as_lanes().par_chunks(block))
                    .for_each(|(sum, other)| add_weighted_rows(other, &[0], &[1.0], sum));
            }
            (None, Some(items)) => {
                for (place, &item) in items.iter().enumerate() {
                    let sum = self.rows.row_lanes_mut(item as usize);
                    add_weighted_rows(other.rows.as_lanes(), &[place as u32], &[1.0], sum);
                }
            }
        }
        tables.keep(other.rows);
        self
    }

    /// The rows of a range of the items.
    fn rows_of(&self, range: &Range<u32>) -> Range<usize> {
        let row = |end: u32| match &self.items {
            None => end as usize,
            Some(items) => items.partition_point(|&item| item < end),
        };
        row(range.start)..row(range.end)
    }

    /// The number of rows in a range of the items; [`ALL`] without a list.
    fn count(&self, range: &Range<u32>) -> u64 {
        if self.items.is_some() { self.rows_of(range).len() as u64 } else { ALL }
    }

    /// Some rows as they are sent: which items they are of, if these are listed, and the rows.
    fn message(&self, rows: Range<usize>) -> [&[u8]; 2] {
        let lanes = self.rows.lanes();
        let items = self.items.as_ref().map_or(&[][..], |items| &items[rows.clone()]);
        let rows = &self.rows.as_lanes()[rows.start * lanes..rows.end * lanes];
        [bytemuck::cast_slice(items), bytemuck::cast_slice(rows)]
    }

    /// Room for so many rows of `n_items` items.
    fn room(count: u64, [n_items, dim]: [usize; 2], tables: &mut Tables) -> Self {
        let (is_listed, rows) = (count != ALL, if count == ALL { n_items } else { count as usize });
        Self { items: is_listed.then(|| vec![0; rows]), rows: tables.any(rows, dim) }
    }

    /// Where such messages are received: one after another, of so many rows each.
    fn places(&mut self, counts: &[u64]) -> Vec<[&mut [u8]; 2]> {
        let lanes = self.rows.lanes();
        let (mut items, mut rows) = (self.items.as_deref_mut(), self.rows.as_lanes_mut());
        let place = |&count: &u64| {
            let count = count as usize;
            let items = items.as_mut().and_then(|items| items.split_off_mut(..count)).unwrap_or_default();
            let rows = rows.split_off_mut(..count * lanes).unwrap_or_default();
            [bytemuck::cast_slice_mut(items), bytemuck::cast_slice_mut(rows)]
        };
        counts.iter().map(place).collect()
    }

    /// Where one message of all rows is received.
    fn place(&mut self) -> [&mut [u8]; 2] {
        [
            self.items.as_deref_mut().map(bytemuck::cast_slice_mut).unwrap_or_default(),
            bytemuck::cast_slice_mut(self.rows.as_lanes_mut()),
        ]
    }

    /// Numbers the items of the list in another way.
    fn renumber(&mut self, number: impl Fn(u32) -> u32) {
        self.items.iter_mut().flatten().for_each(|item| *item = number(*item));
    }
}

/// Ascending lists as one, each element once.
pub(super) fn union(lists: &[&[u32]]) -> Vec<u32> {
    let mut all = lists.concat();
    // Finds the lists and merges them.
    all.sort();
    all.dedup();
    all
}

/// The sum over all shards `0..count`. `mine` are those of this process, and `leaf` computes each of them, called in order.
pub(super) fn add_up(
    count: usize,
    mine: Range<usize>,
    size: [usize; 2],
    collective: &dyn Collective,
    tables: &mut Tables,
    mut leaf: impl FnMut(usize, &mut Tables) -> ItemGrads,
) -> ItemGrads {
    let mut sum_of = |node: Range<usize>, tables: &mut Tables| {
        fold(node, tables, &mut |node, tables| (node.len() == 1).then(|| leaf(node.start, tables)))
    };
    if mine == (0..count) {
        return sum_of(mine, tables);
    }
    let ([n_items, dim], ranks) = (size, collective.size());
    let share = |of: usize, rank: usize| rank * of / ranks..(rank + 1) * of / ranks;
    let items = |rank: usize| share(n_items, rank).start as u32..share(n_items, rank).end as u32;
    let ranges: Vec<Range<u32>> = (0..ranks).map(items).collect();
    let my_range = &ranges[collective.rank()];
    let sums: Vec<ItemGrads> = nodes(0..count, &mine).into_iter().map(|node| sum_of(node, tables)).collect();

    // The rows of each node in the range of each process.
    let counts: Vec<u64> = sums.iter().flat_map(|sum| ranges.iter().map(|range| sum.count(range))).collect();
    let counts = gathered(collective, &counts);
    let began = Instant::now();
    let my_counts = counts.chunks(ranks).map(|of_node| of_node[collective.rank()]);
    let mut received: Vec<ItemGrads> =
        my_counts.map(|count| ItemGrads::room(count, [my_range.len(), dim], tables)).collect();
    let to_rank = |range| sums.iter().flat_map(|sum| sum.message(sum.rows_of(range))).collect();
    let to: Vec<Vec<&[u8]>> = ranges.iter().map(to_rank).collect();
    let nodes_of = |rank: usize| nodes(0..count, &share(count, rank));
    let mut rest = &mut received[..];
    let from_rank = |rank: usize| {
        let these = rest.split_off_mut(..nodes_of(rank).len()).unwrap_or_default();
        these.iter_mut().flat_map(ItemGrads::place).collect()
    };
    let from = (0..ranks).map(from_rank).collect();
    let mut packing = began.elapsed();
    collective.swap(&to, from);

    let began = Instant::now();
    sums.into_iter().for_each(|sum| tables.keep(sum.rows));
    received.iter_mut().for_each(|grads| grads.renumber(|item| item - my_range.start));
    let mut received: VecDeque<(Range<usize>, ItemGrads)> =
        (0..ranks).flat_map(nodes_of).zip(received).collect();
    let mut sum = fold(0..count, tables, &mut |node, _| {
        let is_next = received.front().is_some_and(|(other, _)| *other == node);
        is_next.then(|| received.pop_front().map(|(_, grads)| grads)).flatten()
    });
    sum.renumber(|item| item + my_range.start);
    packing += began.elapsed();
    let counts: Vec<u64> = gathered(collective, &[sum.rows.rows() as u64]);
    let began = Instant::now();
    let rows = if sum.items.is_some() { counts.iter().sum() } else { ALL };
    let mut all = ItemGrads::room(rows, size, tables);
    let to = vec![sum.message(0..sum.rows.rows()).to_vec(); ranks];
    let from = all.places(&counts).into_iter().map(Vec::from).collect();
    packing += began.elapsed();
    collective.swap(&to, from);
    tables.keep(sum.rows);
    collective.note_packing(packing);
    all
}

/// Where a node of the tree splits.
fn middle(node: &Range<usize>) -> usize {
    node.start + node.len().next_power_of_two() / 2
}

/// The largest nodes of the tree that lie in a range, in order.
fn nodes(node: Range<usize>, within: &Range<usize>) -> Vec<Range<usize>> {
    if node.end <= within.start || within.end <= node.start {
        return Vec::new();
    }
    if within.start <= node.start && node.end <= within.end {
        return vec![node];
    }
    let middle = middle(&node);
    [nodes(node.start..middle, within), nodes(middle..node.end, within)].concat()
}

/// Nodes of the tree with their sums.
type Nodes = Vec<(Range<usize>, ItemGrads)>;

/// Gives the sum of a node, if it is known.
type Known<'a> = &'a mut dyn FnMut(Range<usize>, &mut Tables) -> Option<ItemGrads>;

/// The sum of a node, from the nodes below it that are known.
fn fold(node: Range<usize>, tables: &mut Tables, known: Known<'_>) -> ItemGrads {
    let below = summands(node.clone(), tables, known);
    add_listed(node, below, tables)
}

/// What is left to add up for a node: listed sums of nodes below it, or its own.
fn summands(node: Range<usize>, tables: &mut Tables, known: Known<'_>) -> Nodes {
    if let Some(sum) = known(node.clone(), tables) {
        return vec![(node, sum)];
    }
    let halves = [node.start..middle(&node), middle(&node)..node.end];
    let [left, right] = halves.clone().map(|half| summands(half, tables, known));
    if [&left, &right].into_iter().flatten().all(|(_, sum)| sum.items.is_some()) {
        return [left, right].into_iter().flatten().collect();
    }
    let [first, second] = halves;
    let (left, right) = (add_listed(first, left, tables), add_listed(second, right, tables));
    vec![(node, left.plus(right, tables))]
}

/// The sum of a node, from all that is left to add up: each row is done at once.
fn add_listed(node: Range<usize>, mut below: Nodes, tables: &mut Tables) -> ItemGrads {
    if below.len() == 1
        && let Some((_, sum)) = below.pop()
    {
        return sum;
    }
    let lists: Vec<&[u32]> = below.iter().map(|(_, sum)| sum.items.as_deref().unwrap_or_default()).collect();
    let items = union(&lists);
    let mut rows = tables.any(items.len(), below.first().map_or(0, |(_, sum)| sum.rows.cols()));
    let lanes = rows.lanes();
    let blocks = rows.as_lanes_mut().par_chunks_mut(ROWS * lanes).zip(items.par_chunks(ROWS));
    blocks.for_each(|(rows, items)| {
        let mut next: Vec<usize> =
            lists.iter().map(|list| list.partition_point(|item| *item < items[0])).collect();
        let (mut found, mut room) = (Vec::new(), vec![ZERO; lanes * below.len()]);
        for (row, item) in rows.chunks_exact_mut(lanes).zip(items) {
            found.clear();
            for (((node, sum), list), next) in below.iter().zip(&lists).zip(&mut next) {
                if list.get(*next) == Some(item) {
                    found.push((node.start, sum.rows.row_lanes(*next)));
                    *next += 1;
                }
            }
            row.fill(ZERO);
            add_rows(node.clone(), &found, row, &mut room);
        }
    });
    below.into_iter().for_each(|(_, sum)| tables.keep(sum.rows));
    ItemGrads { items: Some(items), rows }
}

/// Adds rows of nodes below a node to a row of zeros, in the order of the tree; each with the first shard of its node. `room` is for
/// sums on the right.
fn add_rows(node: Range<usize>, rows: &[(usize, &[Lane])], sum: &mut [Lane], room: &mut [Lane]) {
    match rows {
        [] => {}
        [(_, row)] => add_weighted_rows(row, &[0], &[1.0], sum),
        _ => {
            let middle = middle(&node);
            let (left, right) = rows.split_at(rows.partition_point(|(first, _)| *first < middle));
            add_rows(node.start..middle, left, sum, room);
            if left.is_empty() || right.len() <= 1 {
                return add_rows(middle..node.end, right, sum, room);
            }
            let (on_right, room) = room.split_at_mut(sum.len());
            on_right.fill(ZERO);
            add_rows(middle..node.end, right, on_right, room);
            add_weighted_rows(on_right, &[0], &[1.0], sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::threads::together;

    /// Gradients of a shard: some listed, some of all items, with sums that depend on their order.
    fn grads(shard: usize, listed: bool) -> ItemGrads {
        let mut table = Matrix::zeros(9, 3);
        let items: Vec<u32> = (0..9).filter(|item| !(item * 5 + shard as u32).is_multiple_of(3)).collect();
        for &item in &items {
            let value =
                |k: usize| ((shard * 17 + item as usize * 5 + k) as f32).sin() * 10f32.powi(shard as i32 % 5);
            table.row_mut(item as usize).iter_mut().enumerate().for_each(|(k, x)| *x = value(k));
        }
        ItemGrads::take(&mut table, listed.then_some(&items), &mut Tables::default())
    }

    #[test]
    fn the_sum_has_the_same_bits_for_any_number_of_processes() {
        for count in [1, 2, 3, 5, 8, 12] {
            for all_listed in [true, false] {
                let listed = |shard: usize| all_listed || shard.is_multiple_of(2);
                let sum = |collective: &dyn Collective| {
                    let (rank, size) = (collective.rank(), collective.size());
                    let mine = rank * count / size..(rank + 1) * count / size;
                    let mut tables = Tables::default();
                    let sum = |tables: &mut Tables| {
                        let leaf = |shard, _: &mut _| grads(shard, listed(shard));
                        add_up(count, mine.clone(), [9, 3], collective, tables, leaf)
                    };
                    sum(&mut tables).put(&mut Matrix::zeros(9, 3), &mut tables);
                    // Now in memory that was used before.
                    sum(&mut tables)
                };
                let alone = sum(&crate::collective::Alone);
                assert_eq!(alone.items.is_none(), count > 1 && !all_listed);
                let exact: f64 = (0..count).map(|shard| f64::from(grads(shard, false).rows.row(1)[2])).sum();
                let mut table = Matrix::zeros(9, 3);
                alone.clone().put(&mut table, &mut Tables::default());
                assert!((f64::from(table.row(1)[2]) - exact).abs() < 1e-2, "{count}");
                for ranks in (2..=8).filter(|ranks| *ranks <= count) {
                    for of_rank in together(ranks, sum) {
                        assert_eq!(of_rank, alone, "{count} shards, {ranks} processes");
                    }
                }
            }
        }
    }

    #[test]
    fn a_table_is_empty_after_its_gradients_are_taken_and_gets_them_back() {
        for listed in [true, false] {
            let (mut table, mut tables) = (Matrix::zeros(9, 3), Tables::default());
            let before = grads(4, listed);
            let items = before.clone().put(&mut table, &mut tables);
            assert_eq!(items.is_some(), listed);
            assert_eq!(ItemGrads::take(&mut table, items.as_deref(), &mut tables), before);
            assert_eq!(table, Matrix::zeros(9, 3));
        }
    }
}
