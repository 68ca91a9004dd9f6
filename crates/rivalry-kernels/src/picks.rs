//! What the rows of a batch picked from a table, in the order of the table's blocks, and the loops over it.
//!
//! All rows of the batch visit one block after another, so that the block's rows stay in the second-level cache. What
//! a row picked from a block is short and far from the next row's, where no hardware looks ahead: the loops ask for it
//! some rows early.

use std::marker::PhantomData;
use std::ops::Range;

use fearless_simd::{Simd, dispatch};

use crate::Lane;
use crate::gather::{add_to_rows_at, add_weighted_rows_at, by_width, dots_at, dots_pair_at};
use crate::simd::{level, prefetch};

/// How many rows early.
const AHEAD: usize = 3;

/// For each row of a batch the ids it picked, ordered by the blocks of the table they lie in.
#[derive(Clone, Copy, Debug)]
pub struct Picks<'a> {
    ids: &'a [u32],
    width: usize,
    starts: &'a [u32],
    blocks: usize,
}

impl<'a> Picks<'a> {
    /// Rows of `width` ids each. `starts` holds for each row where each block starts, and last where the last one
    /// ends: one number more than there are `blocks`.
    ///
    /// # Panics
    /// If a row's starts do not ascend, or go beyond the row, or there are not as many rows of both.
    pub fn new(ids: &'a [u32], width: usize, starts: &'a [u32], blocks: usize) -> Self {
        assert_eq!(ids.len() * (blocks + 1), starts.len() * width, "as many rows of ids as of starts");
        for row in starts.chunks_exact(blocks + 1) {
            assert!(row.is_sorted() && row[blocks] as usize <= width, "blocks one after another, in the row");
        }
        Self { ids, width, starts, blocks }
    }

    /// How many rows.
    pub fn rows(self) -> usize {
        self.starts.len() / (self.blocks + 1)
    }

    #[inline(always)]
    fn segment(self, row: usize, block: usize) -> Range<usize> {
        let at = row * (self.blocks + 1) + block;
        let first = row * self.width;
        first + self.starts[at] as usize..first + self.starts[at + 1] as usize
    }

    /// Asks for what is needed `AHEAD` rows later.
    #[inline(always)]
    fn look_ahead(self, row: usize, block: usize, values: &[f32]) {
        if row + AHEAD < self.rows() {
            let there = self.segment(row + AHEAD, block);
            prefetch(&self.ids[there.clone()]);
            prefetch(&values[there]);
        }
    }

    /// Hands out values, one for each id, by block. Different parts never overlap, so each can go to its own task.
    ///
    /// # Panics
    /// If there is not one value for each id.
    pub fn split(self, values: &'a mut [f32]) -> impl ExactSizeIterator<Item = Part<'a>> {
        assert_eq!(values.len(), self.ids.len(), "a value for each id");
        let values = values.as_mut_ptr();
        (0..self.blocks).map(move |block| Part { picks: self, block, values, exclusive: PhantomData })
    }

    /// `out[r] += Σ weights · table[id]` over what each row r picked from a block. There is a weight for each id.
    ///
    /// # Panics
    /// If an id is beyond the table, or there are too few weights.
    pub fn add_weighted_rows(self, block: usize, weights: &[f32], table: &[Lane], out: &mut [Lane]) {
        let lanes = out.len() / self.rows();
        by_width!(lanes, add_all_weighted_rows, self, block, weights, table, out);
    }

    /// `table[id - first] += weight · queries[r]` for all that each row r picked from a block, whose first row is
    /// `first`: the transpose of [`Part::dots`].
    ///
    /// # Panics
    /// If an id is not in the block, or there are too few weights.
    pub fn add_to_rows(
        self,
        block: usize,
        weights: &[f32],
        queries: &[Lane],
        first: u32,
        table: &mut [Lane],
    ) {
        let lanes = queries.len() / self.rows();
        by_width!(lanes, add_all_to_rows, self, block, weights, queries, first, table);
    }
}

/// One block's share of values that belong to [`Picks`].
#[derive(Debug)]
pub struct Part<'a> {
    picks: Picks<'a>,
    block: usize,
    values: *mut f32,
    exclusive: PhantomData<&'a mut [f32]>,
}

// SAFETY: a part is an exclusive borrow of places no other part can reach, like a `&mut [f32]`, which is `Send`.
unsafe impl Send for Part<'_> {}

impl Part<'_> {
    /// The ids a row picked from this block, and their values' places.
    #[inline(always)]
    fn row_mut(&mut self, row: usize) -> (&[u32], &mut [f32]) {
        let here = self.picks.segment(row, self.block);
        let ids = &self.picks.ids[here.clone()];
        // SAFETY: `split` has one value for each id and the range was good for the ids. `Picks::new` has seen each
        // row's blocks ascend within the row, so no other block's range overlaps this one, and `&mut self` keeps the
        // ranges of this part apart in time.
        let places = unsafe { std::slice::from_raw_parts_mut(self.values.add(here.start), here.len()) };
        (ids, places)
    }

    #[inline(always)]
    fn look_ahead(&mut self, row: usize) {
        if row + AHEAD < self.picks.rows() {
            let (ids, places) = self.row_mut(row + AHEAD);
            prefetch(ids);
            prefetch(places);
        }
    }

    /// The dot products of each row's query with what the row picked from this block.
    ///
    /// # Panics
    /// If an id is beyond the table.
    pub fn dots(&mut self, queries: &[Lane], table: &[Lane]) {
        let lanes = queries.len() / self.picks.rows();
        by_width!(lanes, all_dots, self, queries, table);
    }

    /// The same for two queries a row, reading what was picked once; the second's go to another part of the same
    /// picks.
    ///
    /// # Panics
    /// If an id is beyond the table.
    pub fn dots_pair(&mut self, other: &mut Self, queries: [&[Lane]; 2], table: &[Lane]) {
        let lanes = queries[0].len() / self.picks.rows();
        by_width!(lanes, all_dots_pair, self, other, queries, table);
    }
}

#[inline(always)]
fn all_dots<S: Simd, const L: usize>(simd: S, part: &mut Part<'_>, queries: &[Lane], table: &[Lane]) {
    let lanes = queries.len() / part.picks.rows();
    for row in 0..part.picks.rows() {
        part.look_ahead(row);
        let query = &queries[row * lanes..][..lanes];
        let (ids, out) = part.row_mut(row);
        dots_at::<S, L>(simd, query, table, ids, out);
    }
}

#[inline(always)]
fn all_dots_pair<S: Simd, const L: usize>(
    simd: S,
    part: &mut Part<'_>,
    other: &mut Part<'_>,
    [a, b]: [&[Lane]; 2],
    table: &[Lane],
) {
    let lanes = a.len() / part.picks.rows();
    for row in 0..part.picks.rows() {
        part.look_ahead(row);
        other.look_ahead(row);
        let queries = [&a[row * lanes..][..lanes], &b[row * lanes..][..lanes]];
        let ((ids, f), (_, s)) = (part.row_mut(row), other.row_mut(row));
        dots_pair_at::<S, L>(simd, queries, table, ids, (f, s));
    }
}

#[inline(always)]
fn add_all_weighted_rows<S: Simd, const L: usize>(
    simd: S,
    picks: Picks<'_>,
    block: usize,
    weights: &[f32],
    table: &[Lane],
    out: &mut [Lane],
) {
    let lanes = out.len() / picks.rows();
    for (row, out) in out.chunks_exact_mut(lanes).enumerate() {
        picks.look_ahead(row, block, weights);
        let here = picks.segment(row, block);
        let (ids, weights) = (&picks.ids[here.clone()], &weights[here]);
        add_weighted_rows_at::<S, L>(simd, table, ids, weights, out);
    }
}

#[inline(always)]
fn add_all_to_rows<S: Simd, const L: usize>(
    simd: S,
    picks: Picks<'_>,
    block: usize,
    weights: &[f32],
    queries: &[Lane],
    first: u32,
    table: &mut [Lane],
) {
    let lanes = queries.len() / picks.rows();
    for (row, query) in queries.chunks_exact(lanes).enumerate() {
        picks.look_ahead(row, block, weights);
        let here = picks.segment(row, block);
        let (ids, weights) = (&picks.ids[here.clone()], &weights[here]);
        add_to_rows_at::<S, L>(simd, query, ids, weights, first, table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use crate::simd::at_every_level;

    fn whole(rows: usize, cols: usize, seed: usize) -> Matrix {
        Matrix::from_fn(rows, cols, |r, c| ((r * 31 + c * 17 + seed * 7) % 13) as f32 - 6.0)
    }

    /// Two rows of five ids from a table of nine rows in three blocks.
    const IDS: [u32; 10] = [2, 0, 8, 6, 8, 1, 5, 3, 4, 7];
    const STARTS: [u32; 8] = [0, 2, 2, 5, 0, 1, 4, 5];

    #[test]
    fn the_loops_agree_with_the_single_kernels_at_every_width() {
        for cols in [5, 32, 64, 100, 128, 256] {
            let (table, queries, others) = (whole(9, cols, 1), whole(2, cols, 2), whole(2, cols, 3));
            let picks = Picks::new(&IDS, 5, &STARTS, 3);
            at_every_level(|| {
                let (mut alone, mut scores, mut seconds) = ([0.0; 10], [0.0; 10], [0.0; 10]);
                for mut part in picks.split(&mut alone) {
                    part.dots(queries.as_lanes(), table.as_lanes());
                }
                for (mut part, mut other) in picks.split(&mut scores).zip(picks.split(&mut seconds)) {
                    part.dots_pair(&mut other, [queries.as_lanes(), others.as_lanes()], table.as_lanes());
                }
                let (mut sums, mut back) = (whole(2, cols, 4), whole(9, cols, 5));
                for block in 0..3 {
                    picks.add_weighted_rows(block, &scores, table.as_lanes(), sums.as_lanes_mut());
                    let part = &mut back.as_lanes_mut()[block * 3 * table.lanes()..][..3 * table.lanes()];
                    picks.add_to_rows(block, &scores, queries.as_lanes(), 3 * block as u32, part);
                }
                let (mut sums_expected, mut back_expected) = (whole(2, cols, 4), whole(9, cols, 5));
                for row in 0..2 {
                    let here = row * 5..row * 5 + 5;
                    let (mut f, mut s) = ([0.0; 5], [0.0; 5]);
                    let ids = &IDS[here.clone()];
                    crate::dots(queries.row_lanes(row), table.as_lanes(), ids, &mut f);
                    crate::dots(others.row_lanes(row), table.as_lanes(), ids, &mut s);
                    assert_eq!(
                        (&alone[here.clone()], &scores[here.clone()], &seconds[here]),
                        (&f[..], &f[..], &s[..])
                    );
                    crate::add_weighted_rows(table.as_lanes(), ids, &f, sums_expected.row_lanes_mut(row));
                    crate::add_to_rows(queries.row_lanes(row), ids, &f, 0, back_expected.as_lanes_mut());
                }
                assert_eq!((&sums, &back), (&sums_expected, &back_expected));
            });
        }
    }

    #[test]
    #[should_panic(expected = "blocks one after another")]
    fn overlapping_blocks_are_refused() {
        Picks::new(&[0; 5], 5, &[0, 3, 2, 5], 3);
    }

    #[test]
    #[should_panic(expected = "as many rows")]
    fn a_missing_row_is_refused() {
        Picks::new(&[0; 10], 5, &[0, 3, 5], 2);
    }

    #[test]
    #[should_panic(expected = "a value for each id")]
    fn too_few_values_are_refused() {
        let _ = Picks::new(&[0; 5], 5, &[0, 3, 5], 2).split(&mut [0.0; 4]);
    }
}
