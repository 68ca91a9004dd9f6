//! Rows of a table with their gradients, moments and unit rows, in blocks that stay in cache.

use std::ops::Range;

use rayon::prelude::*;
use rivalry_kernels::{
    AdamCatchUp, AdamStep, Lane, Matrix, ZERO, adam, adam_catch_up, adam_zero_grad, normalise,
    normalise_backward,
};

use super::Trainable;
use crate::backbone::{Embeddings, Unit};

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

/// Calls `work` for each block of so many rows, in parallel, with the number of its first row.
pub(super) fn for_each_block(table: Table<'_>, block: usize, work: impl Fn(usize, Rows<'_>) + Sync) {
    let mut rest = table.rows();
    let mut blocks = Vec::with_capacity(rest.len().div_ceil(block));
    while rest.len() > block {
        let (rows, others) = rest.split_at(block);
        blocks.push(rows);
        rest = others;
    }
    blocks.push(rest);
    blocks.into_par_iter().enumerate().for_each(|(number, rows)| work(number * block, rows));
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
