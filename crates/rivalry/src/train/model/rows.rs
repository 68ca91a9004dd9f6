//! Rows of a table with all that belongs to them, and what a step does to them.

use std::ops::Range;

use rayon::prelude::*;
use rivalry_kernels::{Adam, Lane, Matrix, ZERO, adam, adam_at_rest, normalise, normalise_backward};

use crate::backbone::BLOCK;

/// The table of users with all that belongs to it, or that of items.
pub(super) struct Tables<'a> {
    pub learned: &'a mut Matrix,
    /// Gradients of what is scored: the normal rows if there are any, otherwise the learned ones.
    pub grads: &'a mut Matrix,
    pub first: &'a mut Matrix,
    pub second: &'a mut Matrix,
    /// The learned rows at length one, and one over the lengths they had.
    pub normal: Option<(&'a mut Matrix, &'a mut [f32])>,
}

impl Tables<'_> {
    /// One Adam step for all rows, along gradients that are zero afterwards.
    pub fn step(self, step: &Adam, lazy: bool) {
        self.blocks(|_, mut rows| match lazy {
            true => (0..rows.len()).for_each(|r| rows.part(r..r + 1).step_if_any(step)),
            false => rows.step(step),
        });
    }

    /// The same where no rows have gradients but those listed, ascending and each once: the others' are not looked at.
    pub fn step_with(self, listed: &[u32], step: &Adam, lazy: bool) {
        self.blocks(|first, mut rows| {
            let from = listed.partition_point(|&row| (row as usize) < first);
            let listed = listed[from..].iter().map(|&row| row as usize - first);
            let (mut done, end) = (0, rows.len());
            for row in listed.take_while(|&row| row < end) {
                match lazy {
                    true => rows.part(row..row + 1).step_if_any(step),
                    false => {
                        rows.part(done..row).rest(step);
                        rows.part(row..row + 1).step(step);
                    }
                }
                done = row + 1;
            }
            if !lazy {
                rows.part(done..end).rest(step);
            }
        });
    }

    fn blocks(self, work: impl Fn(usize, Rows<'_>) + Sync) {
        let lanes = self.learned.lanes();
        let count = self.learned.rows().div_ceil(BLOCK);
        let tables = rows_of(self.learned).zip(rows_of(self.grads));
        let tables = tables.zip(rows_of(self.first).zip(rows_of(self.second))).enumerate();
        let work = |((block, ((learned, grads), (first, second))), normal)| {
            work(block * BLOCK, Rows { lanes, learned, grads, first, second, normal });
        };
        match self.normal {
            None => tables.zip((0..count).into_par_iter().map(|_| None)).for_each(work),
            Some((unit, lengths)) => {
                tables.zip(rows_of(unit).zip(lengths.par_chunks_mut(BLOCK)).map(Some)).for_each(work);
            }
        }
    }
}

/// Some rows one after another, with all that belongs to them.
struct Rows<'a> {
    lanes: usize,
    learned: &'a mut [Lane],
    grads: &'a mut [Lane],
    first: &'a mut [Lane],
    second: &'a mut [Lane],
    normal: Option<(&'a mut [Lane], &'a mut [f32])>,
}

impl Rows<'_> {
    fn len(&self) -> usize {
        self.learned.len() / self.lanes
    }

    fn part(&mut self, rows: Range<usize>) -> Rows<'_> {
        let lanes = rows.start * self.lanes..rows.end * self.lanes;
        Rows {
            lanes: self.lanes,
            learned: &mut self.learned[lanes.clone()],
            grads: &mut self.grads[lanes.clone()],
            first: &mut self.first[lanes.clone()],
            second: &mut self.second[lanes.clone()],
            normal: self.normal.as_mut().map(|(unit, lengths)| (&mut unit[lanes], &mut lengths[rows])),
        }
    }

    /// One Adam step along the gradients, which are zero afterwards.
    fn step(mut self, step: &Adam) {
        if let Some((unit, lengths)) = &self.normal {
            normalise_backward(unit, self.lanes, lengths, self.grads);
        }
        adam(step, self.learned, self.first, self.second, self.grads);
        self.grads.fill(ZERO);
        self.normalise();
    }

    /// The same, unless there is no gradient.
    fn step_if_any(self, step: &Adam) {
        if self.grads.iter().any(|lane| *lane != ZERO) {
            self.step(step);
        }
    }

    /// One Adam step without a gradient.
    fn rest(mut self, step: &Adam) {
        adam_at_rest(step, self.learned, self.first, self.second);
        self.normalise();
    }

    fn normalise(&mut self) {
        if let Some((unit, lengths)) = &mut self.normal {
            normalise(self.learned, self.lanes, unit, lengths);
        }
    }
}

/// The table in blocks of rows, side by side.
pub(super) fn rows_of(table: &mut Matrix) -> rayon::slice::ChunksMut<'_, Lane> {
    let block = BLOCK * table.lanes();
    table.as_lanes_mut().par_chunks_mut(block)
}
