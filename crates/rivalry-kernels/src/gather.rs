//! Rows of a table picked by id: their dot products with a vector, their weighted sum, and the way back.
//!
//! These four loops are where training spends its time. A row is a whole number of lanes; the usual widths
//! (32, 64, 128 numbers) get loops of fixed length with the vector held in registers, all others share one general
//! loop. Both add in the same order.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::Lane;
use crate::simd::{dot, level, load, store, sum, sum_each};

/// Calls the version of a kernel that fits the row width, at the machine's level.
macro_rules! by_width {
    ($lanes:expr, $fixed:ident, $any:ident, $($argument:expr),+) => {
        match $lanes {
            2 => dispatch!(level(), simd => $fixed::<_, 2>(simd, $($argument),+)),
            4 => dispatch!(level(), simd => $fixed::<_, 4>(simd, $($argument),+)),
            8 => dispatch!(level(), simd => $fixed::<_, 8>(simd, $($argument),+)),
            _ => dispatch!(level(), simd => $any(simd, $($argument),+)),
        }
    };
}

/// `out[n] = query · table[ids[n]]`, where `query` is one row and `table` holds rows of the same width.
///
/// # Panics
/// If an id is beyond the table or `out` is shorter than `ids`.
pub fn dots(query: &[Lane], table: &[Lane], ids: &[u32], out: &mut [f32]) {
    let out = &mut out[..ids.len()];
    by_width!(query.len(), dots_fixed, dots_any, query, table, ids, out);
}

#[inline(always)]
fn dots_fixed<S: Simd, const L: usize>(
    simd: S,
    query: &[Lane],
    table: &[Lane],
    ids: &[u32],
    out: &mut [f32],
) {
    let query = registers::<S, L>(simd, query);
    let (fours, rest) = ids.as_chunks::<4>();
    let (out_fours, out_rest) = out.as_chunks_mut::<4>();
    for (&[a, b, c, d], out) in fours.iter().zip(out_fours) {
        // Four products at a time: their lanes are added up together.
        let a = product(simd, &query, row::<L>(table, a));
        let b = product(simd, &query, row::<L>(table, b));
        let c = product(simd, &query, row::<L>(table, c));
        let d = product(simd, &query, row::<L>(table, d));
        *out = sum_each(simd, [a, b, c, d]);
    }
    for (&id, out) in rest.iter().zip(out_rest) {
        *out = sum(product(simd, &query, row::<L>(table, id)));
    }
}

#[inline(always)]
fn dots_any<S: Simd>(simd: S, query: &[Lane], table: &[Lane], ids: &[u32], out: &mut [f32]) {
    for (&id, out) in ids.iter().zip(out) {
        *out = dot(simd, query, any_row(table, id, query.len()));
    }
}

/// Both `f[n] = a · table[ids[n]]` and `s[n] = b · table[ids[n]]`, reading each row once.
///
/// # Panics
/// As [`dots`].
pub fn dots_pair(a: &[Lane], b: &[Lane], table: &[Lane], ids: &[u32], f: &mut [f32], s: &mut [f32]) {
    let out = (&mut f[..ids.len()], &mut s[..ids.len()]);
    by_width!(a.len(), dots_pair_fixed, dots_pair_any, [a, b], table, ids, out);
}

#[inline(always)]
fn dots_pair_fixed<S: Simd, const L: usize>(
    simd: S,
    [a, b]: [&[Lane]; 2],
    table: &[Lane],
    ids: &[u32],
    (f, s): (&mut [f32], &mut [f32]),
) {
    let (twos, rest) = ids.as_chunks::<2>();
    for (at, &[first, second]) in twos.iter().enumerate() {
        let row_1 = registers::<S, L>(simd, row::<L>(table, first));
        let (f_1, s_1) = (product(simd, &row_1, a), product(simd, &row_1, b));
        let row_2 = registers::<S, L>(simd, row::<L>(table, second));
        let (f_2, s_2) = (product(simd, &row_2, a), product(simd, &row_2, b));
        let sums = sum_each(simd, [f_1, s_1, f_2, s_2]);
        [f[2 * at], s[2 * at], f[2 * at + 1], s[2 * at + 1]] = sums;
    }
    if let (Some(&id), Some(f), Some(s)) = (rest.first(), f.last_mut(), s.last_mut()) {
        let row = registers::<S, L>(simd, row::<L>(table, id));
        (*f, *s) = (sum(product(simd, &row, a)), sum(product(simd, &row, b)));
    }
}

#[inline(always)]
fn dots_pair_any<S: Simd>(
    simd: S,
    [a, b]: [&[Lane]; 2],
    table: &[Lane],
    ids: &[u32],
    (f, s): (&mut [f32], &mut [f32]),
) {
    for ((&id, f), s) in ids.iter().zip(f).zip(s) {
        let row = any_row(table, id, a.len());
        (*f, *s) = (dot(simd, a, row), dot(simd, b, row));
    }
}

/// `out += Σ_n weights[n] · table[ids[n]]`.
///
/// # Panics
/// If an id is beyond the table.
pub fn add_weighted_rows(table: &[Lane], ids: &[u32], weights: &[f32], out: &mut [Lane]) {
    by_width!(out.len(), add_weighted_rows_fixed, add_weighted_rows_any, table, ids, weights, out);
}

#[inline(always)]
fn add_weighted_rows_fixed<S: Simd, const L: usize>(
    simd: S,
    table: &[Lane],
    ids: &[u32],
    weights: &[f32],
    out: &mut [Lane],
) {
    let mut sums = registers::<S, L>(simd, out);
    for (&id, &weight) in ids.iter().zip(weights) {
        let row = row::<L>(table, id);
        let weight = f32x16::splat(simd, weight);
        for l in 0..L {
            sums[l] = load(simd, &row[l]).mul_add(weight, sums[l]);
        }
    }
    for l in 0..L {
        store(sums[l], &mut out[l]);
    }
}

#[inline(always)]
fn add_weighted_rows_any<S: Simd>(simd: S, table: &[Lane], ids: &[u32], weights: &[f32], out: &mut [Lane]) {
    for (&id, &weight) in ids.iter().zip(weights) {
        add_scaled(simd, weight, any_row(table, id, out.len()), out);
    }
}

/// `table[ids[n] - first] += weights[n] · vector` for each n: the transpose of [`dots`].
/// `table` is the part of a larger one that starts at row `first`.
///
/// # Panics
/// If an id is not in that part.
pub fn add_to_rows(vector: &[Lane], ids: &[u32], weights: &[f32], first: u32, table: &mut [Lane]) {
    by_width!(vector.len(), add_to_rows_fixed, add_to_rows_any, vector, ids, weights, first, table);
}

#[inline(always)]
fn add_to_rows_fixed<S: Simd, const L: usize>(
    simd: S,
    vector: &[Lane],
    ids: &[u32],
    weights: &[f32],
    first: u32,
    table: &mut [Lane],
) {
    let vector = registers::<S, L>(simd, vector);
    let rows = table.as_chunks_mut::<L>().0;
    for (&id, &weight) in ids.iter().zip(weights) {
        let weight = f32x16::splat(simd, weight);
        let row = &mut rows[(id - first) as usize];
        for l in 0..L {
            store(vector[l].mul_add(weight, load(simd, &row[l])), &mut row[l]);
        }
    }
}

#[inline(always)]
fn add_to_rows_any<S: Simd>(
    simd: S,
    vector: &[Lane],
    ids: &[u32],
    weights: &[f32],
    first: u32,
    table: &mut [Lane],
) {
    for (&id, &weight) in ids.iter().zip(weights) {
        let start = (id - first) as usize * vector.len();
        add_scaled(simd, weight, vector, &mut table[start..start + vector.len()]);
    }
}

/// A row held in registers, as far as there are enough of them.
#[inline(always)]
fn registers<S: Simd, const L: usize>(simd: S, row: &[Lane]) -> [f32x16<S>; L] {
    let row = &row[..L];
    let mut held = [f32x16::splat(simd, 0.0); L];
    for l in 0..L {
        held[l] = load(simd, &row[l]);
    }
    held
}

#[inline(always)]
fn row<const L: usize>(table: &[Lane], id: u32) -> &[Lane; L] {
    &table.as_chunks::<L>().0[id as usize]
}

#[inline(always)]
fn any_row(table: &[Lane], id: u32, lanes: usize) -> &[Lane] {
    let start = id as usize * lanes;
    &table[start..start + lanes]
}

/// The products of two rows, lane by lane, added up over the lanes of the row.
#[inline(always)]
fn product<S: Simd, const L: usize>(simd: S, held: &[f32x16<S>; L], row: &[Lane]) -> f32x16<S> {
    let row = &row[..L];
    let mut acc = f32x16::splat(simd, 0.0);
    for l in 0..L {
        acc = held[l].mul_add(load(simd, &row[l]), acc);
    }
    acc
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
