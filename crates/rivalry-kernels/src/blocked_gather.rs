//! Cache-blocked gathers and scatters: each row of a batch gathers many rows of a table, block by block of the table.
//!
//! All rows of the batch are processed for one block before the next, so that the block stays in the second-level cache.
//! The ids that a batch row gathers from one block are few and far from the next batch row's, where hardware
//! prefetchers do not help: the loops prefetch them some rows ahead.

use std::marker::PhantomData;
use std::ops::Range;

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::gather::{add_to_rows_at, add_weighted_rows_at, by_width, dots_at, dots_pair_at};
use crate::math::exp;
use crate::simd::{level, load_row, prefetch, store_row, sum};
use crate::{LANES, Lane};

/// The prefetch distance in batch rows.
const PREFETCH_DISTANCE: usize = 3;

/// The ids that each row of a batch gathers from a table, grouped by block of the table.
#[derive(Clone, Copy, Debug)]
pub struct BlockedGather<'a> {
    ids: &'a [u32],
    width: usize,
    starts: &'a [u32],
    blocks: usize,
}

impl<'a> BlockedGather<'a> {
    /// Batch rows of `width` ids each. `starts` has `blocks + 1` entries for each row: where its ids of each block start,
    /// and where those of the last block end.
    ///
    /// # Panics
    /// If the starts of a row are not ascending or exceed `width`, or if `ids` and `starts` differ in their number of
    /// rows.
    pub fn new(ids: &'a [u32], width: usize, starts: &'a [u32], blocks: usize) -> Self {
        assert_eq!(
            ids.len() * (blocks + 1),
            starts.len() * width,
            "ids and starts must have the same number of rows"
        );
        for row in starts.chunks_exact(blocks + 1) {
            assert!(row.is_sorted() && row[blocks] as usize <= width, "starts must ascend within the row");
        }
        Self { ids, width, starts, blocks }
    }

    /// The number of batch rows.
    pub fn rows(self) -> usize {
        self.starts.len() / (self.blocks + 1)
    }

    #[inline(always)]
    fn segment(self, row: usize, block: usize) -> Range<usize> {
        let at = row * (self.blocks + 1) + block;
        let first = row * self.width;
        first + self.starts[at] as usize..first + self.starts[at + 1] as usize
    }

    /// Prefetches the ids and values of a later row.
    #[inline(always)]
    fn prefetch_later(self, row: usize, block: usize, values: &[f32]) {
        if row + PREFETCH_DISTANCE < self.rows() {
            let later = self.segment(row + PREFETCH_DISTANCE, block);
            prefetch(&self.ids[later.clone()]);
            prefetch(&values[later]);
        }
    }

    /// Splits values, one for each id, by block. The blocks do not overlap, so each can be filled by its own task.
    ///
    /// # Panics
    /// If there is not exactly one value for each id.
    pub fn split(self, values: &'a mut [f32]) -> impl ExactSizeIterator<Item = GatherBlock<'a>> {
        assert_eq!(values.len(), self.ids.len(), "one value per id");
        let values = values.as_mut_ptr();
        (0..self.blocks).map(move |block| GatherBlock { gather: self, block, values, exclusive: PhantomData })
    }

    /// `out[r] += Σ weight · table[id]` over the ids that each batch row r gathers from a block. `weights` has one entry
    /// for each id.
    ///
    /// # Panics
    /// If an id is out of range, or there are too few weights.
    pub fn add_weighted_rows(self, block: usize, weights: &[f32], table: &[Lane], out: &mut [Lane]) {
        let lanes = out.len() / self.rows();
        by_width!(lanes, add_all_weighted_rows, self, block, weights, table, out);
    }

    /// `table[id - first] += weight · queries[r]` for all ids that each batch row r gathers from a block: the transpose of
    /// [`GatherBlock::dots`]. `table` is the block, whose first row is row `first` of the whole table.
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

/// The values of one block of a [`BlockedGather`], for writing.
#[derive(Debug)]
pub struct GatherBlock<'a> {
    gather: BlockedGather<'a>,
    block: usize,
    values: *mut f32,
    exclusive: PhantomData<&'a mut [f32]>,
}

// SAFETY: a block exclusively borrows elements that no other block can access, like a `&mut [f32]`, which is `Send`.
unsafe impl Send for GatherBlock<'_> {}

impl GatherBlock<'_> {
    /// The ids that a batch row gathers from this block, and their values.
    #[inline(always)]
    fn row_mut(&mut self, row: usize) -> (&[u32], &mut [f32]) {
        let here = self.gather.segment(row, self.block);
        let ids = &self.gather.ids[here.clone()];
        // SAFETY: `split` has checked that there are as many values as ids, and the range was in bounds for the ids.
        // `BlockedGather::new` has checked that the blocks of each row ascend within the row, so the range overlaps no
        // other block's, and `&mut self` excludes two live slices of this block.
        let values = unsafe { std::slice::from_raw_parts_mut(self.values.add(here.start), here.len()) };
        (ids, values)
    }

    #[inline(always)]
    fn prefetch_later(&mut self, row: usize) {
        if row + PREFETCH_DISTANCE < self.gather.rows() {
            let (ids, values) = self.row_mut(row + PREFETCH_DISTANCE);
            prefetch(ids);
            prefetch(values);
        }
    }

    /// Writes the dot product of each batch row's query with each table row that it gathers from this block.
    ///
    /// # Panics
    /// If an id is out of range.
    pub fn dots(&mut self, queries: &[Lane], table: &[Lane]) {
        let lanes = queries.len() / self.gather.rows();
        by_width!(lanes, all_dots, self, queries, table);
    }

    /// [`dots`](Self::dots) for two queries per batch row, reading each table row once. The products of the second query
    /// go to `other`, which must be the same block of the same gather, over other values.
    ///
    /// # Panics
    /// If an id is out of range.
    pub fn dots_pair(&mut self, other: &mut Self, queries: [&[Lane]; 2], table: &[Lane]) {
        let lanes = queries[0].len() / self.gather.rows();
        by_width!(lanes, all_dots_pair, self, other, queries, table);
    }

    /// Writes `e = exp(sharpness · (dot - bound))` for each dot product of [`dots`](Self::dots), and adds them up: for each
    /// batch row r, `totals[r] += Σ e` and `sums[r] += Σ e · table[id]`. The rows of the table are summed while they are in
    /// the first-level cache, instead of in a second pass.
    ///
    /// # Panics
    /// If an id is out of range, or `totals` or `sums` have too few rows.
    pub fn exp_dots(
        &mut self,
        queries: &[Lane],
        table: &[Lane],
        exponent: Exponent,
        totals: &mut [f32],
        sums: &mut [Lane],
    ) {
        let lanes = queries.len() / self.gather.rows();
        by_width!(lanes, all_exp_dots, self, queries, table, exponent, totals, sums);
    }
}

/// What a score becomes before it is exponentiated: `sharpness · (score - bound)`. With a bound that no score exceeds nothing
/// overflows, and the maximum need not be known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponent {
    /// The factor of the scores.
    pub sharpness: f32,
    /// What is subtracted from them.
    pub bound: f32,
}

#[inline(always)]
fn all_dots<S: Simd, const L: usize>(simd: S, out: &mut GatherBlock<'_>, queries: &[Lane], table: &[Lane]) {
    let lanes = queries.len() / out.gather.rows();
    for row in 0..out.gather.rows() {
        out.prefetch_later(row);
        let query = &queries[row * lanes..][..lanes];
        let (ids, values) = out.row_mut(row);
        dots_at::<S, L>(simd, query, table, ids, values);
    }
}

#[inline(always)]
fn all_exp_dots<S: Simd, const L: usize>(
    simd: S,
    out: &mut GatherBlock<'_>,
    queries: &[Lane],
    table: &[Lane],
    Exponent { sharpness, bound }: Exponent,
    totals: &mut [f32],
    sums: &mut [Lane],
) {
    let lanes = queries.len() / out.gather.rows();
    let (sharpness, bound) = (f32x16::splat(simd, sharpness), f32x16::splat(simd, bound));
    for (row, sum_of_row) in totals[..out.gather.rows()].iter_mut().enumerate() {
        out.prefetch_later(row);
        let of_row = row * lanes..(row + 1) * lanes;
        let (ids, values) = out.row_mut(row);
        dots_at::<S, L>(simd, &queries[of_row.clone()], table, ids, values);
        let mut total = f32x16::splat(simd, 0.0);
        for at in (0..values.len()).step_by(LANES) {
            let e = exp(simd, (load_row(simd, values, at, f32::NEG_INFINITY) - bound) * sharpness);
            total += e;
            store_row(e, values, at);
        }
        *sum_of_row += sum(total);
        add_weighted_rows_at::<S, L>(simd, table, ids, values, &mut sums[of_row]);
    }
}

#[inline(always)]
fn all_dots_pair<S: Simd, const L: usize>(
    simd: S,
    out: &mut GatherBlock<'_>,
    other: &mut GatherBlock<'_>,
    [a, b]: [&[Lane]; 2],
    table: &[Lane],
) {
    let lanes = a.len() / out.gather.rows();
    for row in 0..out.gather.rows() {
        out.prefetch_later(row);
        other.prefetch_later(row);
        let queries = [&a[row * lanes..][..lanes], &b[row * lanes..][..lanes]];
        let ((ids, f), (_, s)) = (out.row_mut(row), other.row_mut(row));
        dots_pair_at::<S, L>(simd, queries, table, ids, (f, s));
    }
}

#[inline(always)]
fn add_all_weighted_rows<S: Simd, const L: usize>(
    simd: S,
    gather: BlockedGather<'_>,
    block: usize,
    weights: &[f32],
    table: &[Lane],
    out: &mut [Lane],
) {
    let lanes = out.len() / gather.rows();
    for (row, out) in out.chunks_exact_mut(lanes).enumerate() {
        gather.prefetch_later(row, block, weights);
        let here = gather.segment(row, block);
        let (ids, weights) = (&gather.ids[here.clone()], &weights[here]);
        add_weighted_rows_at::<S, L>(simd, table, ids, weights, out);
    }
}

#[inline(always)]
fn add_all_to_rows<S: Simd, const L: usize>(
    simd: S,
    gather: BlockedGather<'_>,
    block: usize,
    weights: &[f32],
    queries: &[Lane],
    first: u32,
    table: &mut [Lane],
) {
    let lanes = queries.len() / gather.rows();
    for (row, query) in queries.chunks_exact(lanes).enumerate() {
        gather.prefetch_later(row, block, weights);
        let here = gather.segment(row, block);
        let (ids, weights) = (&gather.ids[here.clone()], &weights[here]);
        add_to_rows_at::<S, L>(simd, query, ids, weights, first, table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::at_every_level;
    use crate::test_data::integers;

    /// Five batch rows (more than the prefetch distance) of five ids from a table of nine rows in three blocks.
    const IDS: [u32; 25] = [2, 0, 8, 6, 8, 1, 5, 3, 4, 7, 3, 3, 6, 7, 8, 0, 1, 2, 1, 0, 2, 4, 8, 7, 6];
    const STARTS: [u32; 20] = [0, 2, 2, 5, 0, 1, 4, 5, 0, 0, 2, 5, 0, 5, 5, 5, 0, 1, 2, 5];

    #[test]
    fn blocked_loops_agree_with_the_plain_gathers_at_every_width() {
        for cols in [5, 32, 64, 100, 128, 256] {
            let (table, queries, others) = (integers(9, cols, 1), integers(5, cols, 2), integers(5, cols, 3));
            let gather = BlockedGather::new(&IDS, 5, &STARTS, 3);
            at_every_level(|| {
                let (mut alone, mut scores, mut seconds) = ([0.0; 25], [0.0; 25], [0.0; 25]);
                for mut block in gather.split(&mut alone) {
                    block.dots(queries.as_lanes(), table.as_lanes());
                }
                for (mut block, mut other) in gather.split(&mut scores).zip(gather.split(&mut seconds)) {
                    block.dots_pair(&mut other, [queries.as_lanes(), others.as_lanes()], table.as_lanes());
                }
                let (mut sums, mut back) = (integers(5, cols, 4), integers(9, cols, 5));
                for block in 0..3 {
                    gather.add_weighted_rows(block, &scores, table.as_lanes(), sums.as_lanes_mut());
                    let rows = &mut back.as_lanes_mut()[block * 3 * table.lanes()..][..3 * table.lanes()];
                    gather.add_to_rows(block, &scores, queries.as_lanes(), 3 * block as u32, rows);
                }
                let (mut sums_expected, mut back_expected) = (integers(5, cols, 4), integers(9, cols, 5));
                for row in 0..5 {
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
    fn exponentials_are_summed_as_in_two_passes() {
        for cols in [5, 32, 64, 100, 128] {
            let (table, queries) = (integers(9, cols, 1), integers(5, cols, 2));
            let gather = BlockedGather::new(&IDS, 5, &STARTS, 3);
            let exponent = Exponent { sharpness: 1e-3, bound: 20.0 };
            at_every_level(|| {
                let (mut found, mut totals, mut sums) = ([0.0; 25], [0.5; 5], integers(5, cols, 4));
                for mut block in gather.split(&mut found) {
                    let (queries, table) = (queries.as_lanes(), table.as_lanes());
                    block.exp_dots(queries, table, exponent, &mut totals, sums.as_lanes_mut());
                }
                let mut expected = integers(5, cols, 4);
                for row in 0..5 {
                    let (ids, found) = (&IDS[row * 5..][..5], &found[row * 5..][..5]);
                    let mut scores = [0.0; 5];
                    crate::dots(queries.row_lanes(row), table.as_lanes(), ids, &mut scores);
                    let exact = scores.map(|score| (1e-3 * (f64::from(score) - 20.0)).exp());
                    let total = 0.5 + exact.iter().sum::<f64>();
                    assert!((f64::from(totals[row]) - total).abs() < 1e-6 * total, "{} {total}", totals[row]);
                    assert!(
                        found
                            .iter()
                            .zip(exact)
                            .all(|(e, exact)| (f64::from(*e) - exact).abs() < 1e-6 * exact)
                    );
                    crate::add_weighted_rows(table.as_lanes(), ids, found, expected.row_lanes_mut(row));
                }
                for (sum, expected) in sums.to_dense().iter().zip(expected.to_dense()) {
                    assert!((sum - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{sum} {expected}");
                }
            });
        }
    }

    #[test]
    #[should_panic(expected = "starts must ascend")]
    fn overlapping_blocks_are_rejected() {
        BlockedGather::new(&[0; 5], 5, &[0, 3, 2, 5], 3);
    }

    #[test]
    #[should_panic(expected = "the same number of rows")]
    fn a_missing_row_is_rejected() {
        BlockedGather::new(&[0; 10], 5, &[0, 3, 5], 2);
    }

    #[test]
    #[should_panic(expected = "one value per id")]
    fn too_few_values_are_rejected() {
        let _ = BlockedGather::new(&[0; 5], 5, &[0, 3, 5], 2).split(&mut [0.0; 4]);
    }
}
