//! The rows of a batch, gathered from both tables: scored and given gradients in tables of their own.

use rayon::prelude::*;
use rivalry_kernels::{
    AdamCatchUp, AdamStep, Lane, Matrix, ZERO, adam, adam_catch_up, normalise, normalise_backward, prefetch,
};

use super::Gathered;
use crate::backbone::Embeddings;

/// Rows a task works on at a time.
const CHUNK: usize = 64;

/// One row of a table with what belongs to it.
pub(super) struct GatheredRow<'a> {
    params: &'a mut [Lane],
    first: &'a mut [Lane],
    second: &'a mut [Lane],
    /// The step up to which the row is done.
    pub done: &'a mut u32,
    scored: &'a mut [Lane],
    /// One over the length it had, where the row is scored at length one.
    inverse_length: Option<&'a mut [f32]>,
    grads: &'a mut [Lane],
}

impl GatheredRow<'_> {
    /// Several steps without a gradient.
    pub fn catch_up(&mut self, catch_up: &AdamCatchUp) {
        adam_catch_up(catch_up, self.params, self.first, self.second);
    }

    /// Copies the row into the scored table and sets its gradient to zero.
    pub fn gather(self) {
        match self.inverse_length {
            Some(inverse_length) => normalise(self.params, self.params.len(), self.scored, inverse_length),
            None => self.scored.copy_from_slice(self.params),
        }
        self.grads.fill(ZERO);
    }

    /// One Adam step along the gradient of the scored row.
    pub fn step(self, step: &AdamStep) {
        if let Some(inverse_length) = self.inverse_length {
            normalise_backward(self.scored, self.params.len(), inverse_length, self.grads);
        }
        adam(step, self.params, self.first, self.second, self.grads);
    }
}

/// Calls `work` for each gathered row of both tables, in parallel.
pub(super) fn for_each_row(
    tables: Gathered<'_>,
    [first, second]: [&mut Embeddings; 2],
    [users_done, items_done]: &mut [Vec<u32>; 2],
    work: impl Fn(GatheredRow<'_>) + Sync,
) {
    let Gathered { params, users, items, scored, grads } = tables;
    let [user_lengths, item_lengths] = &mut scored.inverse_lengths;
    let tables = [
        Rest {
            base: 0,
            listed: users,
            lanes: params.users.lanes(),
            all: [&mut params.users, &mut first.users, &mut second.users].map(Matrix::as_lanes_mut),
            done: users_done,
            gathered: [&mut scored.embeddings.users, &mut grads.users].map(Matrix::as_lanes_mut),
            lengths: user_lengths,
        },
        Rest {
            base: 0,
            listed: items,
            lanes: params.items.lanes(),
            all: [&mut params.items, &mut first.items, &mut second.items].map(Matrix::as_lanes_mut),
            done: items_done,
            gathered: [&mut scored.embeddings.items, &mut grads.items].map(Matrix::as_lanes_mut),
            lengths: item_lengths,
        },
    ];
    let mut chunks = Vec::new();
    for mut rest in tables {
        while rest.listed.len() > CHUNK {
            let (chunk, others) = rest.split();
            chunks.push(chunk);
            rest = others;
        }
        chunks.push(rest);
    }
    chunks.into_par_iter().for_each(|chunk| chunk.for_each_row(&work));
}

/// Consecutive listed rows of a table, and all rows of the table from the first of them on.
struct Rest<'a> {
    /// The row of the table that the slices of `all` start with.
    base: usize,
    listed: &'a [u32],
    lanes: usize,
    /// Parameters, first and second moment.
    all: [&'a mut [Lane]; 3],
    done: &'a mut [u32],
    /// Scored rows and gradients, one for each listed row.
    gathered: [&'a mut [Lane]; 2],
    /// One over the length of each listed row; empty where rows are scored as they are.
    lengths: &'a mut [f32],
}

impl<'a> Rest<'a> {
    /// The first [`CHUNK`] listed rows, and the others.
    fn split(self) -> (Self, Self) {
        let (listed, other_listed) = self.listed.split_at(CHUNK);
        let (base, lanes) = (self.base, self.lanes);
        let other_base = other_listed[0] as usize;
        let rows = other_base - base;
        let [params, first, second] = self.all.map(|table| table.split_at_mut(rows * lanes));
        let [scored, grads] = self.gathered.map(|table| table.split_at_mut(CHUNK * lanes));
        let (done, other_done) = self.done.split_at_mut(rows);
        let (lengths, other_lengths) = self.lengths.split_at_mut(CHUNK.min(self.lengths.len()));
        let chunk = Self {
            base,
            listed,
            lanes,
            all: [params.0, first.0, second.0],
            done,
            gathered: [scored.0, grads.0],
            lengths,
        };
        let others = Self {
            base: other_base,
            listed: other_listed,
            lanes,
            all: [params.1, first.1, second.1],
            done: other_done,
            gathered: [scored.1, grads.1],
            lengths: other_lengths,
        };
        (chunk, others)
    }

    fn for_each_row(self, work: &impl Fn(GatheredRow<'_>)) {
        let Self { base, listed, lanes, all: [params, first, second], done, gathered, lengths } = self;
        let [scored, grads] = gathered;
        let rows = scored.chunks_exact_mut(lanes).zip(grads.chunks_exact_mut(lanes));
        for (k, (scored, grads)) in rows.enumerate() {
            // The rows lie far apart, so the next one is on its way while one is worked on.
            if let Some(&next) = listed.get(k + 1) {
                let next = (next as usize - base) * lanes;
                [&*params, &*first, &*second].iter().for_each(|table| prefetch(&table[next..next + lanes]));
            }
            let row = listed[k] as usize - base;
            let lanes = row * lanes..(row + 1) * lanes;
            work(GatheredRow {
                params: &mut params[lanes.clone()],
                first: &mut first[lanes.clone()],
                second: &mut second[lanes],
                done: &mut done[row],
                scored,
                inverse_length: lengths.get_mut(k..k + 1),
                grads,
            });
        }
    }
}
