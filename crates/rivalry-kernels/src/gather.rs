//! Gathers and scatters by row id: dot products of gathered rows with a vector, their weighted sum, and the transpose.
//!
//! Training spends most of its time in these loops. Rows of the usual widths (32, 64, 128 elements) get loops of fixed
//! length with the vector in registers; all other widths share a general loop. Both accumulate in the same order.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::Lane;
use crate::simd::{dot, level, load, prefetch, store, sum_each};

/// Dispatches a kernel at the selected level, specialised to the row width in lanes (0: any width).
macro_rules! by_width {
    ($lanes:expr, $kernel:ident, $($argument:expr),+) => {
        match $lanes {
            2 => dispatch!(level(), simd => $kernel::<_, 2>(simd, $($argument),+)),
            4 => dispatch!(level(), simd => $kernel::<_, 4>(simd, $($argument),+)),
            8 => dispatch!(level(), simd => $kernel::<_, 8>(simd, $($argument),+)),
            _ => dispatch!(level(), simd => $kernel::<_, 0>(simd, $($argument),+)),
        }
    };
}
pub(crate) use by_width;

/// `out[n] = query · table[ids[n]]`, where `query` is one row and `table` holds rows of the same width.
///
/// # Panics
/// If an id is out of range or `out` is shorter than `ids`.
pub fn dots(query: &[Lane], table: &[Lane], ids: &[u32], out: &mut [f32]) {
    let out = &mut out[..ids.len()];
    by_width!(query.len(), dots_at, query, table, ids, out);
}

#[inline(always)]
pub(crate) fn dots_at<S: Simd, const L: usize>(
    simd: S,
    query: &[Lane],
    table: &[Lane],
    ids: &[u32],
    out: &mut [f32],
) {
    if L == 0 {
        for (&id, out) in ids.iter().zip(out) {
            *out = dot(simd, query, any_row(table, id, query.len()));
        }
        return;
    }
    let query = registers::<S, L>(simd, query);
    let (fours, rest) = ids.as_chunks::<4>();
    let (out_fours, out_rest) = out.as_chunks_mut::<4>();
    for (&four, out) in fours.iter().zip(out_fours) {
        *out = four_dots(simd, &query, table, four);
    }
    // The remaining one to three are padded to four, which is cheaper than one at a time.
    if let Some(&last) = rest.last() {
        let at = |n: usize| rest.get(n).copied().unwrap_or(last);
        let four = four_dots(simd, &query, table, [at(0), at(1), at(2), last]);
        out_rest.copy_from_slice(&four[..rest.len()]);
    }
}

/// Four dot products, whose horizontal sums are taken together.
#[inline(always)]
fn four_dots<S: Simd, const L: usize>(
    simd: S,
    query: &[f32x16<S>; L],
    table: &[Lane],
    [a, b, c, d]: [u32; 4],
) -> [f32; 4] {
    let a = product(simd, query, row::<L>(table, a));
    let b = product(simd, query, row::<L>(table, b));
    let c = product(simd, query, row::<L>(table, c));
    let d = product(simd, query, row::<L>(table, d));
    sum_each(simd, [a, b, c, d])
}

/// Both `f[n] = a · table[ids[n]]` and `s[n] = b · table[ids[n]]`, reading each row once.
#[inline(always)]
pub(crate) fn dots_pair_at<S: Simd, const L: usize>(
    simd: S,
    [a, b]: [&[Lane]; 2],
    table: &[Lane],
    ids: &[u32],
    (f, s): (&mut [f32], &mut [f32]),
) {
    if L == 0 {
        for ((&id, f), s) in ids.iter().zip(f).zip(s) {
            let row = any_row(table, id, a.len());
            (*f, *s) = (dot(simd, a, row), dot(simd, b, row));
        }
        return;
    }
    let (twos, rest) = ids.as_chunks::<2>();
    let (f_twos, f_rest) = f.as_chunks_mut::<2>();
    let (s_twos, s_rest) = s.as_chunks_mut::<2>();
    for ((&two, f), s) in twos.iter().zip(f_twos).zip(s_twos) {
        (*f, *s) = two_pairs::<S, L>(simd, [a, b], table, two);
    }
    if let (Some(&id), Some(f), Some(s)) = (rest.first(), f_rest.first_mut(), s_rest.first_mut()) {
        ([*f, _], [*s, _]) = two_pairs::<S, L>(simd, [a, b], table, [id, id]);
    }
}

#[inline(always)]
fn two_pairs<S: Simd, const L: usize>(
    simd: S,
    [a, b]: [&[Lane]; 2],
    table: &[Lane],
    [first, second]: [u32; 2],
) -> ([f32; 2], [f32; 2]) {
    let row_1 = registers::<S, L>(simd, row::<L>(table, first));
    let (f_1, s_1) = (product(simd, &row_1, a), product(simd, &row_1, b));
    let row_2 = registers::<S, L>(simd, row::<L>(table, second));
    let (f_2, s_2) = (product(simd, &row_2, a), product(simd, &row_2, b));
    let [f_1, f_2, s_1, s_2] = sum_each(simd, [f_1, f_2, s_1, s_2]);
    ([f_1, f_2], [s_1, s_2])
}

/// `out += Σ_n weights[n] · table[ids[n]]`.
///
/// # Panics
/// If an id is out of range.
pub fn add_weighted_rows(table: &[Lane], ids: &[u32], weights: &[f32], out: &mut [Lane]) {
    by_width!(out.len(), add_weighted_rows_at, table, ids, weights, out);
}

#[inline(always)]
pub(crate) fn add_weighted_rows_at<S: Simd, const L: usize>(
    simd: S,
    table: &[Lane],
    ids: &[u32],
    weights: &[f32],
    out: &mut [Lane],
) {
    if L == 0 {
        for (&id, &weight) in ids.iter().zip(weights) {
            add_scaled(simd, weight, any_row(table, id, out.len()), out);
        }
        return;
    }
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

/// The prefetch distance in rows.
const AHEAD: usize = 8;

/// `gathered[n] = scales ⊙ table[ids[n]]` for each n: rows with each column scaled.
///
/// # Panics
/// If an id is out of range or the sizes are inconsistent.
pub fn gather_scaled_rows(table: &[Lane], ids: &[u32], scales: &[Lane], gathered: &mut [Lane]) {
    let lanes = scales.len();
    assert_eq!(gathered.len(), ids.len() * lanes, "a row for each id");
    dispatch!(level(), simd => {
        for (n, (&id, gathered)) in ids.iter().zip(gathered.chunks_exact_mut(lanes)).enumerate() {
            if let Some(&id) = ids.get(n + AHEAD) {
                prefetch(any_row(table, id, lanes));
            }
            for ((x, scale), out) in any_row(table, id, lanes).iter().zip(scales).zip(gathered) {
                store(load(simd, x) * load(simd, scale), out);
            }
        }
    });
}

/// `gathered[n] = table[ids[n]]` for each n.
///
/// # Panics
/// If an id is out of range or the sizes are inconsistent.
pub fn gather_rows(table: &[Lane], ids: &[u32], gathered: &mut [Lane]) {
    let lanes = gathered.len().checked_div(ids.len()).unwrap_or(1);
    assert_eq!(gathered.len(), ids.len() * lanes, "a row for each id");
    for (n, (&id, gathered)) in ids.iter().zip(gathered.chunks_exact_mut(lanes)).enumerate() {
        if let Some(&id) = ids.get(n + AHEAD) {
            prefetch(any_row(table, id, lanes));
        }
        gathered.copy_from_slice(any_row(table, id, lanes));
    }
}

/// `table[ids[n] - first] += weights[n] · vector` for each n: the transpose of [`dots`].
/// `table` is a range of rows of a larger table, starting at row `first`.
///
/// # Panics
/// If an id is not in that range.
pub fn add_to_rows(vector: &[Lane], ids: &[u32], weights: &[f32], first: u32, table: &mut [Lane]) {
    by_width!(vector.len(), add_to_rows_at, vector, ids, weights, first, table);
}

#[inline(always)]
pub(crate) fn add_to_rows_at<S: Simd, const L: usize>(
    simd: S,
    vector: &[Lane],
    ids: &[u32],
    weights: &[f32],
    first: u32,
    table: &mut [Lane],
) {
    if L == 0 {
        for (&id, &weight) in ids.iter().zip(weights) {
            let start = (id - first) as usize * vector.len();
            add_scaled(simd, weight, vector, &mut table[start..start + vector.len()]);
        }
        return;
    }
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

/// Loads a row into registers, as far as there are enough of them.
#[inline(always)]
fn registers<S: Simd, const L: usize>(simd: S, row: &[Lane]) -> [f32x16<S>; L] {
    let row = &row[..L];
    let mut loaded = [f32x16::splat(simd, 0.0); L];
    for l in 0..L {
        loaded[l] = load(simd, &row[l]);
    }
    loaded
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

/// The elementwise product of two rows, summed over the lanes of the row but not within a lane.
#[inline(always)]
fn product<S: Simd, const L: usize>(simd: S, query: &[f32x16<S>; L], row: &[Lane]) -> f32x16<S> {
    let row = &row[..L];
    let mut acc = f32x16::splat(simd, 0.0);
    for l in 0..L {
        acc = query[l].mul_add(load(simd, &row[l]), acc);
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
    use crate::simd::at_every_level;
    use crate::test_data::integers;

    #[test]
    fn gathers_and_scatters_agree_with_scalar_loops_at_every_width() {
        for cols in [1, 5, 16, 31, 32, 48, 64, 100, 128, 130] {
            let (table, queries) = (integers(9, cols, 1), integers(1, cols, 2));
            let ids = [8, 3, 3, 5, 0];
            let weights = [1.0, -2.0, 0.5, 3.0, 0.0];
            let scalar = |q: usize, id: u32| -> f32 {
                queries.row(q).iter().zip(table.row(id as usize)).map(|(a, b)| a * b).sum()
            };
            at_every_level(|| {
                let mut found = [0.0; 5];
                let a = queries.row_lanes(0);
                for n in 0..=5 {
                    dots(a, table.as_lanes(), &ids[..n], &mut found);
                    assert_eq!(found[..n], ids.map(|id| scalar(0, id))[..n]);
                }

                let mut sum = integers(1, cols, 3);
                add_weighted_rows(table.as_lanes(), &ids, &weights, sum.row_lanes_mut(0));
                let mut scaled = integers(5, cols, 5);
                gather_scaled_rows(table.as_lanes(), &ids, a, scaled.as_lanes_mut());
                let mut copied = integers(5, cols, 6);
                gather_rows(table.as_lanes(), &ids, copied.as_lanes_mut());
                let mut scattered = integers(4, cols, 4);
                add_to_rows(a, &[8, 6, 8], &weights[..3], 5, scattered.as_lanes_mut());
                for c in 0..cols {
                    for (n, &id) in ids.iter().enumerate() {
                        assert_eq!(scaled.row(n)[c], table.row(id as usize)[c] * queries.row(0)[c]);
                        assert_eq!(copied.row(n)[c], table.row(id as usize)[c]);
                    }
                    let rows = ids.iter().zip(weights).map(|(&id, w)| w * table.row(id as usize)[c]);
                    assert_eq!(sum.row(0)[c], integers(1, cols, 3).row(0)[c] + rows.sum::<f32>());
                    let before = integers(4, cols, 4);
                    assert_eq!(scattered.row(3)[c], before.row(3)[c] + 1.5 * queries.row(0)[c]);
                    assert_eq!(scattered.row(1)[c], before.row(1)[c] - 2.0 * queries.row(0)[c]);
                    assert_eq!(scattered.row(0)[c], before.row(0)[c]);
                }
            });
        }
    }
}
