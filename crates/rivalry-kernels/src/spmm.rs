//! A sparse matrix of zeros and ones with scaled rows and columns, times a table: one step of a message along
//! the edges of a graph.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::Lane;
use crate::simd::{level, load, prefetch, store};

/// How many edges early a row of the table is asked for: rows lie wherever the neighbours do, where no hardware
/// looks ahead.
const AHEAD: usize = 16;

/// A stretch of rows of `diag(target) · A · diag(source)`, where A holds a one for each edge.
///
/// Scales of nodes instead of weights of edges: less to read for each edge, and the transpose of a symmetric A
/// is the same edges with the two scales exchanged.
#[derive(Clone, Copy, Debug)]
pub struct SparseRows<'a> {
    /// Where the columns of each row start, and behind the last row where they end.
    pub offsets: &'a [usize],
    /// The columns of all rows of the matrix.
    pub columns: &'a [u32],
    /// The scale of each row of the stretch.
    pub target: &'a [f32],
    /// The scale of each column of the matrix.
    pub source: &'a [f32],
}

/// `out[r] = weight · target[r] · Σ_c source[c] · x[c]` over the columns of row r, plus `share · base[r]` for
/// `plus = (base, share)`.
///
/// Each row is summed in the order of its columns, so that any cut into stretches gives the same bits.
///
/// # Panics
/// If a column is beyond `x` or `source`, or a slice is shorter than the stretch.
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
            // The row to come may be for the next sums as well.
            if let Some(&coming) = rows.columns.get(edge + AHEAD) {
                prefetch(&x[coming as usize]);
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
        Some((base, share)) => load(simd, &base[at]).mul_add(f32x16::splat(simd, share), sum),
        None => sum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use crate::simd::at_every_level;

    /// Five rows over seven columns: none, one, repeated and many.
    const OFFSETS: [usize; 6] = [0, 0, 1, 4, 9, 11];
    const COLUMNS: [u32; 11] = [6, 2, 2, 5, 0, 1, 3, 4, 6, 0, 2];
    // Powers of two times small whole numbers: every sum is exact, so every order of adding agrees to the bit.
    const TARGET: [f32; 5] = [1.0, 2.0, 0.5, 4.0, 0.25];
    const SOURCE: [f32; 7] = [0.5, 1.0, -2.0, 1.0, 0.25, 4.0, 1.0];

    fn whole(rows: usize, cols: usize, seed: usize) -> Matrix {
        Matrix::from_fn(rows, cols, |r, c| ((r * 31 + c * 17 + seed * 7) % 13) as f32 - 6.0)
    }

    fn stretch(rows: std::ops::Range<usize>) -> SparseRows<'static> {
        SparseRows {
            offsets: &OFFSETS[rows.start..=rows.end],
            columns: &COLUMNS,
            target: &TARGET[rows],
            source: &SOURCE,
        }
    }

    #[test]
    fn agrees_with_plain_loops_at_every_width_and_cut() {
        for cols in [1, 5, 16, 31, 32, 48, 64, 100, 128, 130] {
            let (x, base) = (whole(7, cols, 1), whole(5, cols, 2));
            let lanes = x.lanes();
            let plain = |r: usize, c: usize| -> f32 {
                let columns = &COLUMNS[OFFSETS[r]..OFFSETS[r + 1]];
                columns.iter().map(|&k| SOURCE[k as usize] * x.row(k as usize)[c]).sum::<f32>() * TARGET[r]
            };
            at_every_level(|| {
                let (mut alone, mut plus) = (whole(5, cols, 3), whole(5, cols, 4));
                for rows in [0..2, 2..2, 2..5] {
                    let part = rows.start * lanes..rows.end * lanes;
                    let sparse = stretch(rows);
                    spmm(sparse, x.as_lanes(), 1.0, None, &mut alone.as_lanes_mut()[part.clone()]);
                    let with = Some((&base.as_lanes()[part.clone()], 0.5));
                    spmm(sparse, x.as_lanes(), -2.0, with, &mut plus.as_lanes_mut()[part]);
                }
                for r in 0..5 {
                    for c in 0..cols {
                        assert_eq!(alone.row(r)[c], plain(r, c));
                        assert_eq!(plus.row(r)[c], 0.5 * base.row(r)[c] - 2.0 * plain(r, c));
                    }
                    let padding = &alone.row_lanes(r)[lanes - 1].0[cols - (lanes - 1) * 16..];
                    assert!(padding.iter().all(|&x| x == 0.0));
                }
            });
        }
    }
}
