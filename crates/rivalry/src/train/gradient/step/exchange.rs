//! The item gradients of shards, summed in a fixed tree that does not depend on the number of processes.
//!
//! The shards `0..n` are the root of a binary tree: a node splits at the largest power of two that leaves something on its
//! right. A process adds up the largest nodes that lie in its own shards. The rest of the tree is done by each process for its
//! part of the items: it gets the rows of these from the others, and gives them the sums. So a table takes as many bytes as by any
//! other order of summation, whatever the number of processes.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rivalry_kernels::{Lane, Matrix, ZERO, add_weighted_rows};

use crate::collective::Collective;

/// Rows that a task adds up.
const ROWS: usize = 256;

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
    pub fn take(table: &mut Matrix, items: Option<&[u32]>) -> Self {
        let Some(items) = items else {
            let empty = Matrix::zeros(table.rows(), table.cols());
            return Self { items: None, rows: std::mem::replace(table, empty) };
        };
        let rows = table.gather(items);
        items.iter().for_each(|&item| table.row_lanes_mut(item as usize).fill(ZERO));
        Self { items: Some(items.to_vec()), rows }
    }

    /// Puts the gradients into a table of zeros, and returns the list of items.
    pub fn put(self, table: &mut Matrix) -> Option<Vec<u32>> {
        match &self.items {
            None => *table = self.rows,
            Some(items) => {
                for (place, &item) in items.iter().enumerate() {
                    table.row_lanes_mut(item as usize).copy_from_slice(self.rows.row_lanes(place));
                }
            }
        }
        self.items
    }

    /// The sum of both.
    fn plus(self, other: Self) -> Self {
        match (&self.items, &other.items) {
            (None, None) => {
                let mut sum = self.rows;
                let block = ROWS * sum.lanes();
                let blocks = sum.as_lanes_mut().par_chunks_mut(block);
                // To the kernel a block is one long row.
                blocks
                    .zip(other.rows.as_lanes().par_chunks(block))
                    .for_each(|(sum, other)| add_weighted_rows(other, &[0], &[1.0], sum));
                Self { items: None, rows: sum }
            }
            (None, Some(items)) => {
                let mut sum = self.rows;
                for (place, &item) in items.iter().enumerate() {
                    let sum = sum.row_lanes_mut(item as usize);
                    add_weighted_rows(other.rows.as_lanes(), &[place as u32], &[1.0], sum);
                }
                Self { items: None, rows: sum }
            }
            (Some(_), None) => other.plus(self),
            (Some(left), Some(right)) => {
                let items = union(left, right);
                let mut rows = Matrix::zeros(items.len(), self.rows.cols());
                for (list, from) in [(left, &self.rows), (right, &other.rows)] {
                    let mut place = 0;
                    for (row, &item) in list.iter().enumerate() {
                        place += items[place..].partition_point(|&other| other < item);
                        add_weighted_rows(from.as_lanes(), &[row as u32], &[1.0], rows.row_lanes_mut(place));
                    }
                }
                Self { items: Some(items), rows }
            }
        }
    }

    /// Appends the gradients of a range of the items to a message, which counts items from its beginning.
    fn write(&self, range: &Range<u32>, message: &mut Vec<u8>) {
        let (count, rows) = match &self.items {
            None => (u64::MAX, range.start as usize..range.end as usize),
            Some(items) => {
                let [from, to] =
                    [range.start, range.end].map(|end| items.partition_point(|&item| item < end));
                ((to - from) as u64, from..to)
            }
        };
        message.extend_from_slice(&count.to_le_bytes());
        if let Some(items) = &self.items {
            message.extend(items[rows.clone()].iter().flat_map(|item| (item - range.start).to_le_bytes()));
        }
        let lanes = self.rows.lanes();
        let rows = &self.rows.as_lanes()[rows.start * lanes..rows.end * lanes];
        message.extend_from_slice(bytemuck::cast_slice(rows));
    }

    /// Reads gradients of `n_items` items from the front of a message.
    fn read(message: &mut &[u8], n_items: usize, dim: usize) -> Self {
        let Received { items, rows: bytes } = Received::read(message, n_items, dim);
        let mut rows = Matrix::zeros(items.as_ref().map_or(n_items, Vec::len), dim);
        bytemuck::cast_slice_mut::<Lane, u8>(rows.as_lanes_mut()).copy_from_slice(bytes);
        Self { items, rows }
    }

    /// Reads gradients of consecutive ranges of the items, one from each message, and puts them together.
    fn read_all(messages: &[Vec<u8>], ranges: &[Range<u32>], dim: usize) -> Self {
        let (mut items, mut parts) = (Some(Vec::new()), Vec::new());
        for (message, range) in messages.iter().zip(ranges) {
            let received = Received::read(&mut &message[..], range.len(), dim);
            items = items.zip(received.items).map(|(mut all, these): (Vec<u32>, _)| {
                all.extend(these.iter().map(|item| item + range.start));
                all
            });
            parts.push(received.rows);
        }
        let row_bytes = Received::row_bytes(dim);
        let mut rows = Matrix::zeros(parts.iter().map(|part| part.len() / row_bytes).sum(), dim);
        let mut place: &mut [u8] = bytemuck::cast_slice_mut::<Lane, u8>(rows.as_lanes_mut());
        for part in parts {
            let (these, others) = place.split_at_mut(part.len());
            these.copy_from_slice(part);
            place = others;
        }
        Self { items, rows }
    }
}

/// Gradients in a message.
struct Received<'m> {
    items: Option<Vec<u32>>,
    rows: &'m [u8],
}

impl<'m> Received<'m> {
    fn row_bytes(dim: usize) -> usize {
        Matrix::zeros(0, dim).lanes() * size_of::<Lane>()
    }

    /// Takes gradients of `n_items` items from the front of a message.
    fn read(message: &mut &'m [u8], n_items: usize, dim: usize) -> Self {
        let count = u64::from_le_bytes(take(message, 8).try_into().unwrap_or_default());
        let items = (count != u64::MAX)
            .then(|| bytemuck::pod_collect_to_vec::<u8, u32>(take(message, 4 * count as usize)));
        let rows = items.as_ref().map_or(n_items, Vec::len);
        Self { items, rows: take(message, rows * Self::row_bytes(dim)) }
    }
}

fn take<'a>(message: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (taken, rest) = message.split_at(len);
    *message = rest;
    taken
}

/// Two ascending lists as one, each element once.
pub(super) fn union(left: &[u32], right: &[u32]) -> Vec<u32> {
    let mut all = [left, right].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// The sum over all shards `0..count`. `mine` are those of this process, and `leaf` computes each of them, called in order.
pub(super) fn add_up(
    count: usize,
    mine: Range<usize>,
    size: [usize; 2],
    collective: &dyn Collective,
    mut leaf: impl FnMut(usize) -> ItemGrads,
) -> ItemGrads {
    let sum_of = |node: Range<usize>, leaf: &mut dyn FnMut(usize) -> ItemGrads| {
        fold(node, &mut |node| (node.len() == 1).then(|| leaf(node.start)))
    };
    if mine == (0..count) {
        return sum_of(mine, &mut leaf);
    }
    let ([n_items, dim], ranks) = (size, collective.size());
    let share = |of: usize, rank: usize| rank * of / ranks..(rank + 1) * of / ranks;
    let items = |rank: usize| share(n_items, rank).start as u32..share(n_items, rank).end as u32;
    let ranges: Vec<Range<u32>> = (0..ranks).map(items).collect();
    let mut messages = vec![Vec::new(); ranks];
    let mut packing = Duration::ZERO;
    for node in nodes(0..count, &mine) {
        let sum = sum_of(node, &mut leaf);
        let began = Instant::now();
        ranges.iter().zip(&mut messages).for_each(|(range, message)| sum.write(range, message));
        packing += began.elapsed();
    }
    let messages = collective.all_to_all(messages);
    let (began, my_items) = (Instant::now(), ranges[collective.rank()].len());
    let mut received = VecDeque::new();
    for (rank, message) in messages.iter().enumerate() {
        let mut message = &message[..];
        for node in nodes(0..count, &share(count, rank)) {
            received.push_back((node, ItemGrads::read(&mut message, my_items, dim)));
        }
    }
    let sum = fold(0..count, &mut |node| {
        let is_next = received.front().is_some_and(|(other, _)| *other == node);
        is_next.then(|| received.pop_front().map(|(_, grads)| grads)).flatten()
    });
    let mut message = Vec::new();
    sum.write(&(0..my_items as u32), &mut message);
    packing += began.elapsed();
    let messages = collective.all_gather(&message);
    let began = Instant::now();
    let sum = ItemGrads::read_all(&messages, &ranges, dim);
    collective.note_packing(packing + began.elapsed());
    sum
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

/// The sum of a node, from the nodes below it that are known.
fn fold(node: Range<usize>, known: &mut dyn FnMut(Range<usize>) -> Option<ItemGrads>) -> ItemGrads {
    if let Some(sum) = known(node.clone()) {
        return sum;
    }
    let middle = middle(&node);
    let left = fold(node.start..middle, known);
    left.plus(fold(middle..node.end, known))
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
        ItemGrads::take(&mut table, listed.then_some(&items))
    }

    #[test]
    fn the_sum_has_the_same_bits_for_any_number_of_processes() {
        for count in [1, 2, 3, 5, 8, 12] {
            for all_listed in [true, false] {
                let listed = |shard: usize| all_listed || shard.is_multiple_of(2);
                let sum = |collective: &dyn Collective| {
                    let (rank, size) = (collective.rank(), collective.size());
                    let mine = rank * count / size..(rank + 1) * count / size;
                    add_up(count, mine, [9, 3], collective, |shard| grads(shard, listed(shard)))
                };
                let alone = sum(&crate::collective::Alone);
                assert_eq!(alone.items.is_none(), count > 1 && !all_listed);
                let exact: f64 = (0..count).map(|shard| f64::from(grads(shard, false).rows.row(1)[2])).sum();
                let mut table = Matrix::zeros(9, 3);
                alone.clone().put(&mut table);
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
            let mut table = Matrix::zeros(9, 3);
            let before = grads(4, listed);
            let items = before.clone().put(&mut table);
            assert_eq!(items.is_some(), listed);
            assert_eq!(ItemGrads::take(&mut table, items.as_deref()), before);
            assert_eq!(table, Matrix::zeros(9, 3));
        }
    }
}
