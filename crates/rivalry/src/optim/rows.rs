//! Rows of a table with their gradients, moments and unit rows, in blocks that stay in cache.

use std::ops::Range;

use rayon::prelude::*;
use rivalry_kernels::{
    AdamCatchUp, AdamStep, Lane, Matrix, ZERO, adam, adam_catch_up, adam_zero_grad, normalise,
    normalise_backward, prefetch,
};

use super::Trainable;
use super::adam::within;
use crate::backbone::{BLOCK, Embeddings, Unit};

/// Rows a task works on at a time where only some rows of a table are listed.
const LISTED_BLOCK: usize = 1024;

/// The table of users or that of items, with what belongs to it.
pub(super) struct Table<'a> {
    params: &'a mut Matrix,
    grads: &'a mut Matrix,
    first: &'a mut Matrix,
    second: &'a mut Matrix,
    /// The rows at length one, and one over the lengths they had.
    unit: Option<(&'a mut Matrix, &'a mut [f32])>,
    done: &'a mut [u32],
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
                done: &mut [],
            },
            Table {
                params: &mut self.params.items,
                grads: &mut self.grads.items,
                first: &mut first.items,
                second: &mut second.items,
                unit: item_unit,
                done: &mut [],
            },
        ]
    }
}

impl<'a> Table<'a> {
    /// The same with the step up to which each row is done.
    pub fn with_done(self, done: &'a mut [u32]) -> Self {
        Self { done, ..self }
    }

    /// All rows.
    fn rows(self) -> Rows<'a> {
        Rows {
            lanes: self.params.lanes(),
            params: self.params.as_lanes_mut(),
            grads: self.grads.as_lanes_mut(),
            first: self.first.as_lanes_mut(),
            second: self.second.as_lanes_mut(),
            unit: self.unit.map(|(unit, lengths)| (unit.as_lanes_mut(), lengths)),
            done: self.done,
        }
    }
}

/// Calls `work` for each block of both tables, in parallel, with the table (0 or 1) and the number of its first row.
/// Blocks are of so many rows of each table; a table with blocks of 0 rows is left out.
pub(super) fn for_each_block(
    tables: [Table<'_>; 2],
    sizes: [usize; 2],
    work: impl Fn(usize, usize, Rows<'_>) + Sync,
) {
    let mut blocks = Vec::new();
    for (which, (table, size)) in tables.into_iter().zip(sizes).enumerate().filter(|(_, (_, size))| *size > 0)
    {
        let (mut first, mut rest) = (0, table.rows());
        while rest.len() > size {
            let (rows, others) = rest.split_at(size);
            blocks.push((which, first, rows));
            (first, rest) = (first + size, others);
        }
        blocks.push((which, first, rest));
    }
    blocks.into_par_iter().for_each(|(which, first, rows)| work(which, first, rows));
}

/// Rows a task works on at a time, for a table of which these rows are listed.
pub(super) fn block_size(listed: Option<&[u32]>) -> usize {
    if listed.is_some() { LISTED_BLOCK } else { BLOCK }
}

/// Calls `work` for each row of a block that is listed, or for all.
pub(super) fn for_each_row(
    rows: &mut Rows<'_>,
    first: usize,
    listed: Option<&[u32]>,
    mut work: impl FnMut(Rows<'_>),
) {
    match listed {
        Some(listed) => {
            // The rows lie far apart, so the next one is on its way while one is worked on.
            let mut listed = within(listed, first, rows.len()).peekable();
            while let Some(row) = listed.next() {
                if let Some(&next) = listed.peek() {
                    rows.prefetch(next);
                }
                work(rows.part(row..row + 1));
            }
        }
        None => (0..rows.len()).for_each(|row| work(rows.part(row..row + 1))),
    }
}

/// Consecutive rows with what belongs to them.
pub(super) struct Rows<'a> {
    lanes: usize,
    params: &'a mut [Lane],
    grads: &'a mut [Lane],
    first: &'a mut [Lane],
    second: &'a mut [Lane],
    unit: Option<(&'a mut [Lane], &'a mut [f32])>,
    /// The step up to which each row is done; empty for an optimiser that doesn't defer updates.
    pub done: &'a mut [u32],
}

impl<'a> Rows<'a> {
    /// The first `n` rows and the others.
    fn split_at(self, n: usize) -> (Self, Self) {
        let lanes = self.lanes;
        let (params, other_params) = self.params.split_at_mut(n * lanes);
        let (grads, other_grads) = self.grads.split_at_mut(n * lanes);
        let (first, other_first) = self.first.split_at_mut(n * lanes);
        let (second, other_second) = self.second.split_at_mut(n * lanes);
        let (done, other_done) = self.done.split_at_mut(n.min(self.done.len()));
        let (unit, other_unit) = match self.unit {
            Some((unit, lengths)) => {
                let (unit, other_unit) = unit.split_at_mut(n * lanes);
                let (lengths, other_lengths) = lengths.split_at_mut(n);
                (Some((unit, lengths)), Some((other_unit, other_lengths)))
            }
            None => (None, None),
        };
        (
            Self { lanes, params, grads, first, second, unit, done },
            Self {
                lanes,
                params: other_params,
                grads: other_grads,
                first: other_first,
                second: other_second,
                unit: other_unit,
                done: other_done,
            },
        )
    }
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
            unit: self.unit.as_mut().map(|(unit, lengths)| (&mut unit[lanes], &mut lengths[rows.clone()])),
            done: if self.done.is_empty() { &mut [] } else { &mut self.done[rows] },
        }
    }

    /// Starts to load a row that is needed soon.
    pub fn prefetch(&self, row: usize) {
        let lanes = row * self.lanes..(row + 1) * self.lanes;
        for table in [&*self.params, &*self.grads, &*self.first, &*self.second] {
            prefetch(&table[lanes.clone()]);
        }
        if let Some((unit, _)) = &self.unit {
            prefetch(&unit[lanes]);
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

    /// Several steps of rows whose gradients are zero.
    pub fn catch_up(mut self, catch_up: &AdamCatchUp) {
        adam_catch_up(catch_up, self.params, self.first, self.second);
        self.normalise();
    }

    fn normalise(&mut self) {
        if let Some((unit, lengths)) = &mut self.unit {
            normalise(self.params, self.lanes, unit, lengths);
        }
    }
}
