//! Rows of a table picked by id: their dot products with a vector, their weighted sum, and the way back.
//!
//! These four loops are where training spends its time. A row is a whole number of lanes; the usual widths
//! (32, 64, 128 numbers) get loops of fixed length that the compiler unrolls, all others share one general loop.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::Lane;
use crate::simd::{dot, level, load, store};

/// The row width as a constant where it is a usual one.
trait Width: Copy {
    fn lanes(self) -> usize;
}

#[derive(Clone, Copy)]
struct Fixed<const LANES: usize>;

impl<const LANES: usize> Width for Fixed<LANES> {
    #[inline(always)]
    fn lanes(self) -> usize {
        LANES
    }
}

#[derive(Clone, Copy)]
struct Any(usize);

impl Width for Any {
    #[inline(always)]
    fn lanes(self) -> usize {
        self.0
    }
}

macro_rules! with_width {
    ($lanes:expr, $simd:ident, $width:ident => $body:expr) => {
        match $lanes {
            2 => dispatch!(level(), $simd => { let $width = Fixed::<2>; $body }),
            4 => dispatch!(level(), $simd => { let $width = Fixed::<4>; $body }),
            8 => dispatch!(level(), $simd => { let $width = Fixed::<8>; $body }),
            lanes => dispatch!(level(), $simd => { let $width = Any(lanes); $body }),
        }
    };
}

/// `out[n] = query · table[ids[n]]`, where `query` is one row and `table` holds rows of the same width.
///
/// # Panics
/// If an id is beyond the table or `out` is shorter than `ids`.
pub fn dots(query: &[Lane], table: &[Lane], ids: &[u32], out: &mut [f32]) {
    with_width!(query.len(), simd, width => dots_at(simd, width, query, table, ids, out));
}

#[inline(always)]
fn dots_at<S: Simd>(
    simd: S,
    width: impl Width,
    query: &[Lane],
    table: &[Lane],
    ids: &[u32],
    out: &mut [f32],
) {
    let query = &query[..width.lanes()];
    for (&id, out) in ids.iter().zip(&mut out[..ids.len()]) {
        *out = dot(simd, query, row(width, table, id));
    }
}

/// Both `f[n] = a · table[ids[n]]` and `s[n] = b · table[ids[n]]`, reading each row once.
pub fn dots_pair(a: &[Lane], b: &[Lane], table: &[Lane], ids: &[u32], f: &mut [f32], s: &mut [f32]) {
    with_width!(a.len(), simd, width => dots_pair_at(simd, width, a, b, table, ids, f, s));
}

#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "two queries and two answers, once with the instruction level")]
fn dots_pair_at<S: Simd>(
    simd: S,
    width: impl Width,
    a: &[Lane],
    b: &[Lane],
    table: &[Lane],
    ids: &[u32],
    f: &mut [f32],
    s: &mut [f32],
) {
    let (a, b) = (&a[..width.lanes()], &b[..width.lanes()]);
    for ((&id, f), s) in ids.iter().zip(&mut f[..ids.len()]).zip(&mut s[..ids.len()]) {
        let row = row(width, table, id);
        *f = dot(simd, a, row);
        *s = dot(simd, b, row);
    }
}

/// `out += Σ_n weights[n] · table[ids[n]]`.
pub fn add_weighted_rows(table: &[Lane], ids: &[u32], weights: &[f32], out: &mut [Lane]) {
    with_width!(out.len(), simd, width => match width.lanes() {
        2 => add_weighted_rows_in_registers::<_, 2>(simd, table, ids, weights, out),
        4 => add_weighted_rows_in_registers::<_, 4>(simd, table, ids, weights, out),
        _ => add_weighted_rows_at(simd, width, table, ids, weights, out),
    });
}

/// The sum stays in registers until the end: with up to 64 numbers a row they hold it whole.
#[inline(always)]
fn add_weighted_rows_in_registers<S: Simd, const LANES: usize>(
    simd: S,
    table: &[Lane],
    ids: &[u32],
    weights: &[f32],
    out: &mut [Lane],
) {
    let mut sums: [f32x16<S>; LANES] = std::array::from_fn(|l| load(simd, &out[l]));
    for (&id, &weight) in ids.iter().zip(weights) {
        let row = row(Fixed::<LANES>, table, id);
        let weight = f32x16::splat(simd, weight);
        for l in 0..LANES {
            sums[l] = load(simd, &row[l]).mul_add(weight, sums[l]);
        }
    }
    for l in 0..LANES {
        store(sums[l], &mut out[l]);
    }
}

#[inline(always)]
fn add_weighted_rows_at<S: Simd>(
    simd: S,
    width: impl Width,
    table: &[Lane],
    ids: &[u32],
    weights: &[f32],
    out: &mut [Lane],
) {
    for (&id, &weight) in ids.iter().zip(weights) {
        add_scaled(simd, weight, row(width, table, id), &mut out[..width.lanes()]);
    }
}

/// `table[ids[n] - first] += weights[n] · vector` for each n: the transpose of [`dots`].
/// `table` is the part of a larger one that starts at row `first`.
pub fn add_to_rows(vector: &[Lane], ids: &[u32], weights: &[f32], first: u32, table: &mut [Lane]) {
    with_width!(vector.len(), simd, width => add_to_rows_at(simd, width, vector, ids, weights, first, table));
}

#[inline(always)]
fn add_to_rows_at<S: Simd>(
    simd: S,
    width: impl Width,
    vector: &[Lane],
    ids: &[u32],
    weights: &[f32],
    first: u32,
    table: &mut [Lane],
) {
    let lanes = width.lanes();
    let vector = &vector[..lanes];
    for (&id, &weight) in ids.iter().zip(weights) {
        let start = (id - first) as usize * lanes;
        add_scaled(simd, weight, vector, &mut table[start..start + lanes]);
    }
}

#[inline(always)]
fn row(width: impl Width, table: &[Lane], id: u32) -> &[Lane] {
    let start = id as usize * width.lanes();
    &table[start..start + width.lanes()]
}

#[inline(always)]
fn add_scaled<S: Simd>(simd: S, weight: f32, x: &[Lane], out: &mut [Lane]) {
    let weight = f32x16::splat(simd, weight);
    for (x, out) in x.iter().zip(out) {
        store(load(simd, x).mul_add(weight, load(simd, out)), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use crate::simd::at_every_level;

    /// Small whole numbers: sums of their products are exact, so every order of adding must agree to the bit.
    fn whole(rows: usize, cols: usize, seed: usize) -> Matrix {
        Matrix::from_fn(rows, cols, |r, c| ((r * 31 + c * 17 + seed * 7) % 13) as f32 - 6.0)
    }

    #[test]
    fn gathers_and_scatters_agree_with_plain_loops_at_every_width() {
        for cols in [1, 5, 16, 31, 32, 48, 64, 100, 128, 130] {
            let (table, queries) = (whole(9, cols, 1), whole(2, cols, 2));
            let ids = [8, 3, 3, 5, 0];
            let weights = [1.0, -2.0, 0.5, 3.0, 0.0];
            let plain = |q: usize, id: u32| -> f32 {
                queries.row(q).iter().zip(table.row(id as usize)).map(|(a, b)| a * b).sum()
            };
            at_every_level(|| {
                let (mut f, mut s, mut single) = ([0.0; 5], [0.0; 5], [0.0; 5]);
                let (a, b) = (queries.row_lanes(0), queries.row_lanes(1));
                dots(a, table.as_lanes(), &ids, &mut single);
                dots_pair(a, b, table.as_lanes(), &ids, &mut f, &mut s);
                assert_eq!(single, ids.map(|id| plain(0, id)));
                assert_eq!((f, s), (single, ids.map(|id| plain(1, id))));

                let mut sum = whole(1, cols, 3);
                add_weighted_rows(table.as_lanes(), &ids, &weights, sum.row_lanes_mut(0));
                let mut scattered = whole(4, cols, 4);
                add_to_rows(a, &[8, 6, 8], &weights[..3], 5, scattered.as_lanes_mut());
                for c in 0..cols {
                    let rows = ids.iter().zip(weights).map(|(&id, w)| w * table.row(id as usize)[c]);
                    assert_eq!(sum.row(0)[c], whole(1, cols, 3).row(0)[c] + rows.sum::<f32>());
                    let before = whole(4, cols, 4);
                    assert_eq!(scattered.row(3)[c], before.row(3)[c] + 1.5 * queries.row(0)[c]);
                    assert_eq!(scattered.row(1)[c], before.row(1)[c] - 2.0 * queries.row(0)[c]);
                    assert_eq!(scattered.row(0)[c], before.row(0)[c]);
                }
            });
        }
    }
}
