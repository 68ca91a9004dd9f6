//! Sparse matrix times table: one step of message passing on a graph whose edge weights are products of node scales.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::Lane;
use crate::simd::{level, load, prefetch_second_level, store};

/// The prefetch distance in edges. Neighbours are scattered over the table, where hardware prefetchers do not help.
const PREFETCH_DISTANCE: usize = 128;

/// A range of rows of `diag(target) · A · diag(source)` in compressed sparse row (CSR) form, where A is a 0-1 matrix.
///
/// Scales of nodes need less memory traffic than weights of edges, and the transpose for a symmetric A is the same
/// matrix with the two scales exchanged.
#[derive(Clone, Copy, Debug)]
pub struct SparseRows<'a> {
    /// For each row of the range, where its columns start; then where those of the last row end.
    pub offsets: &'a [usize],
    /// The column indices of all rows of the matrix.
    pub columns: &'a [u32],
    /// The scale of each row of the range.
    pub target: &'a [f32],
    /// The scale of each column of the matrix.
    pub source: &'a [f32],
}

/// `out[r] = weight · target[r] · Σ_c source[c] · x[c]` over the columns of row r, plus `factor · base[r]` for
/// `plus = (base, factor)`.
///
/// Each row is summed in the order of its columns, so the result does not depend on how the matrix is split into ranges.
///
/// # Panics
/// If a column is out of range for `x` or `source`, or a slice is shorter than the range of rows.
pub fn spmm(rows: SparseRows<'_>, x: &[Lane], weight: f32, plus: Option<(&[Lane], f32)>, out: &mut [Lane]) {
    let Some(lanes) = out.len().checked_div(rows.target.len()) else { return };
    match lanes {
        2 => dispatch!(level(), simd => spmm_fixed::<_, 2>(simd, rows, x, weight, plus, out)),
        4 => dispatch!(level(), simd => spmm_fixed::<_, 4>(simd, rows, x, weight, plus, out)),
        8 => dispatch!(level(), simd => spmm_fixed::<_, 8>(simd, rows, x, weight, plus, out)),
        _ => dispatch!(level(), simd => spmm_any(simd, rows, x, weight, plus, out)),
    }
}

#[inline(always)]
fn spmm_fixed<S: Simd, const L: usize>(
    simd: S,
    rows: SparseRows<'_>,
    x: &[Lane],
    weight: f32,
    plus: Option<(&[Lane], f32)>,
    out: &mut [Lane],
) {
    let x = x.as_chunks::<L>().0;
    for (r, out) in out.as_chunks_mut::<L>().0.iter_mut().enumerate() {
        let mut sums = [f32x16::splat(simd, 0.0); L];
        for edge in rows.offsets[r]..rows.offsets[r + 1] {
            // The prefetched column may belong to the next row.
            if let Some(&column) = rows.columns.get(edge + PREFETCH_DISTANCE) {
                prefetch_second_level(&x[column as usize]);
            }
            let column = rows.columns[edge];
            let scale = f32x16::splat(simd, rows.source[column as usize]);
            let row = &x[column as usize];
            for l in 0..L {
                sums[l] = load(simd, &row[l]).mul_add(scale, sums[l]);
            }
        }
        let scale = f32x16::splat(simd, weight * rows.target[r]);
        for l in 0..L {
            let sum = sums[l] * scale;
            store(with_base(simd, sum, plus, r * L + l), &mut out[l]);
        }
    }
}

#[inline(always)]
fn spmm_any<S: Simd>(
    simd: S,
    rows: SparseRows<'_>,
    x: &[Lane],
    weight: f32,
    plus: Option<(&[Lane], f32)>,
    out: &mut [Lane],
) {
    let lanes = out.len() / rows.target.len();
    for (r, out) in out.chunks_exact_mut(lanes.max(1)).enumerate() {
        let columns = &rows.columns[rows.offsets[r]..rows.offsets[r + 1]];
        let scale = f32x16::splat(simd, weight * rows.target[r]);
        for (l, out) in out.iter_mut().enumerate() {
            let mut sum = f32x16::splat(simd, 0.0);
            for &column in columns {
                let factor = f32x16::splat(simd, rows.source[column as usize]);
                sum = load(simd, &x[column as usize * lanes + l]).mul_add(factor, sum);
            }
            store(with_base(simd, sum * scale, plus, r * lanes + l), out);
        }
    }
}

#[inline(always)]
fn with_base<S: Simd>(simd: S, sum: f32x16<S>, plus: Option<(&[Lane], f32)>, at: usize) -> f32x16<S> {
    match plus {
        Some((base, factor)) => load(simd, &base[at]).mul_add(f32x16::splat(simd, factor), sum),
        None => sum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::at_every_level;
    use crate::test_data::integers;

    /// Five rows over seven columns: an empty row, one edge, repeated edges and many.
    const OFFSETS: [usize; 6] = [0, 0, 1, 4, 9, 11];
    const COLUMNS: [u32; 11] = [6, 2, 2, 5, 0, 1, 3, 4, 6, 0, 2];
    // Powers of two times small integers: every sum is exact, so every order of summation agrees to the bit.
    const TARGET: [f32; 5] = [1.0, 2.0, 0.5, 4.0, 0.25];
    const SOURCE: [f32; 7] = [0.5, 1.0, -2.0, 1.0, 0.25, 4.0, 1.0];

    fn range(rows: std::ops::Range<usize>) -> SparseRows<'static> {
        SparseRows {
            offsets: &OFFSETS[rows.start..=rows.end],
            columns: &COLUMNS,
            target: &TARGET[rows],
            source: &SOURCE,
        }
    }

    #[test]
    fn rows_longer_than_the_prefetch_distance_agree_with_the_scalar_loop() {
        let columns: Vec<u32> = (0..60).map(|edge| edge * 5 % 7).collect();
        let (x, offsets, target) = (integers(7, 64, 1), [0, 35, 60], [1.0, 0.5]);
        let rows = SparseRows { offsets: &offsets, columns: &columns, target: &target, source: &SOURCE };
        at_every_level(|| {
            let mut out = integers(2, 64, 2);
            spmm(rows, x.as_lanes(), 1.0, None, out.as_lanes_mut());
            for r in 0..2 {
                for c in 0..64 {
                    let terms = columns[offsets[r]..offsets[r + 1]].iter();
                    let sum: f32 = terms.map(|&k| SOURCE[k as usize] * x.row(k as usize)[c]).sum();
                    assert_eq!(out.row(r)[c], sum * target[r]);
                }
            }
        });
    }

    #[test]
    fn agrees_with_scalar_loops_for_every_width_and_split() {
        for cols in [1, 5, 16, 31, 32, 48, 64, 100, 128, 130] {
            let (x, base) = (integers(7, cols, 1), integers(5, cols, 2));
            let lanes = x.lanes();
            let scalar = |r: usize, c: usize| -> f32 {
                let columns = &COLUMNS[OFFSETS[r]..OFFSETS[r + 1]];
                columns.iter().map(|&k| SOURCE[k as usize] * x.row(k as usize)[c]).sum::<f32>() * TARGET[r]
            };
            at_every_level(|| {
                let (mut alone, mut plus) = (integers(5, cols, 3), integers(5, cols, 4));
                for rows in [0..2, 2..2, 2..5] {
                    let part = rows.start * lanes..rows.end * lanes;
                    let sparse = range(rows);
                    spmm(sparse, x.as_lanes(), 1.0, None, &mut alone.as_lanes_mut()[part.clone()]);
                    let with = Some((&base.as_lanes()[part.clone()], 0.5));
                    spmm(sparse, x.as_lanes(), -2.0, with, &mut plus.as_lanes_mut()[part]);
                }
                for r in 0..5 {
                    for c in 0..cols {
                        assert_eq!(alone.row(r)[c], scalar(r, c));
                        assert_eq!(plus.row(r)[c], 0.5 * base.row(r)[c] - 2.0 * scalar(r, c));
                    }
                    let padding = &alone.row_lanes(r)[lanes - 1].0[cols - (lanes - 1) * 16..];
                    assert!(padding.iter().all(|&x| x == 0.0));
                }
            });
        }
    }
}
