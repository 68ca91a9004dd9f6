//! Rows of a table with their gradients, moments and unit rows, in blocks that stay in cache.

use std::ops::Range;

use rayon::prelude::*;
use rivalry_kernels::{AdamStep, Lane, Matrix, ZERO, adam, adam_zero_grad, normalise, normalise_backward};

use super::Trainable;
use crate::backbone::{BLOCK, Embeddings, Unit};

/// The table of users or that of items, with what belongs to it.
pub(super) struct Table<'a> {
    params: &'a mut Matrix,
    grads: &'a mut Matrix,
    first: &'a mut Matrix,
    second: &'a mut Matrix,
    /// The rows at length one, and one over the lengths they had.
    unit: Option<(&'a mut Matrix, &'a mut [f32])>,
}

impl<'a> Trainable<'a> {
    /// The user table and the item table, each with its two moments.
    pub(super) fn with_moments(
        self,
        first: &'a mut Embeddings,
        second: &'a mut Embeddings,
    ) -> [Table<'a>; 2] {
        let [mut user_unit, mut item_unit] = [None, None];
        if let Some(Unit { embeddings, inverse_lengths: [users, items] }) = self.unit {
            user_unit = Some((&mut embeddings.users, &mut users[..]));
            item_unit = Some((&mut embeddings.items, &mut items[..]));
        }
        [
            Table {
                params: &mut self.params.users,
                grads: &mut self.grads.users,
                first: &mut first.users,
                second: &mut second.users,
                unit: user_unit,
            },
            Table {
                params: &mut self.params.items,
                grads: &mut self.grads.items,
                first: &mut first.items,
                second: &mut second.items,
                unit: item_unit,
            },
        ]
    }
}

/// Calls `work` for each block of rows, in parallel, with the number of its first row.
pub(super) fn for_each_block(table: Table<'_>, work: impl Fn(usize, Rows<'_>) + Sync) {
    let lanes = table.params.lanes();
    let count = table.params.rows().div_ceil(BLOCK);
    let tables = blocks(table.params).zip(blocks(table.grads));
    let tables = tables.zip(blocks(table.first).zip(blocks(table.second))).enumerate();
    let work = |((block, ((params, grads), (first, second))), unit)| {
        work(block * BLOCK, Rows { lanes, params, grads, first, second, unit });
    };
    match table.unit {
        None => tables.zip((0..count).into_par_iter().map(|_| None)).for_each(work),
        Some((unit, lengths)) => {
            tables.zip(blocks(unit).zip(lengths.par_chunks_mut(BLOCK)).map(Some)).for_each(work);
        }
    }
}

fn blocks(table: &mut Matrix) -> rayon::slice::ChunksMut<'_, Lane> {
    let block = BLOCK * table.lanes();
    table.as_lanes_mut().par_chunks_mut(block)
}

/// Consecutive rows with what belongs to them.
pub(super) struct Rows<'a> {
    lanes: usize,
    params: &'a mut [Lane],
    grads: &'a mut [Lane],
    first: &'a mut [Lane],
    second: &'a mut [Lane],
    unit: Option<(&'a mut [Lane], &'a mut [f32])>,
}

impl Rows<'_> {
    pub fn len(&self) -> usize {
        self.params.len() / self.lanes
    }

    pub fn part(&mut self, rows: Range<usize>) -> Rows<'_> {
        let lanes = rows.start * self.lanes..rows.end * self.lanes;
        Rows {
            lanes: self.lanes,
            params: &mut self.params[lanes.clone()],
            grads: &mut self.grads[lanes.clone()],
            first: &mut self.first[lanes.clone()],
            second: &mut self.second[lanes.clone()],
            unit: self.unit.as_mut().map(|(unit, lengths)| (&mut unit[lanes], &mut lengths[rows])),
        }
    }

    /// One Adam step along the gradients, which are zero afterwards.
    pub fn step(mut self, step: &AdamStep) {
        if let Some((unit, lengths)) = &self.unit {
            normalise_backward(unit, self.lanes, lengths, self.grads);
        }
        adam(step, self.params, self.first, self.second, self.grads);
        self.grads.fill(ZERO);
        self.normalise();
    }

    /// The same, unless all gradients are zero.
    pub fn step_if_any(self, step: &AdamStep) {
        if self.grads.iter().any(|lane| *lane != ZERO) {
            self.step(step);
        }
    }

    /// One Adam step of rows whose gradients are zero.
    pub fn step_without_gradient(mut self, step: &AdamStep) {
        adam_zero_grad(step, self.params, self.first, self.second);
        self.normalise();
    }

    fn normalise(&mut self) {
        if let Some((unit, lengths)) = &mut self.unit {
            normalise(self.params, self.lanes, unit, lengths);
        }
    }
}
