//! Dense products of tables with many rows and few columns: all scores of a batch, and their backward pass.
//!
//! Where most rows of a table are needed anyway, scoring all of them is cheaper than gathering, because values in
//! registers are reused many times. Every element of a result is one chain of multiply-adds in the order of the inner
//! index, whatever the tiling, so the bits depend on neither register count nor cache sizes.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::simd::{has_many_registers, level, load, store};
use crate::{LANES, Lane, ZERO};

/// The number of rows of the result that are accumulated in registers together.
const TILE: usize = 6;

/// The same where there are registers for it.
const WIDE: usize = 12;

/// Rows and panels of the tiles of a product with several panels, where there are registers for it.
const WIDE_ROWS: usize = 8;
const WIDE_PANELS: usize = 3;

/// Lanes of such a panel that are multiplied at a time.
const WIDE_DEPTH: usize = 128;

/// Lanes of the tiles of a sum of rows, where there are registers for it.
pub(crate) const WIDE_LANES: usize = 4;

/// The block size of the inner index: as many rows of the table as stay in the first-level cache.
const DEPTH: usize = 64;

/// Packs a table into transposed panels of [`LANES`] rows: `panels[p · width + c]` holds column `c` of the rows
/// `16p..16p + 16`, where `width` is `16 · lanes`. The last panel is padded with zero rows.
///
/// # Panics
/// If `panels` is not `width` lanes for each panel.
pub fn pack_panels(table: &[Lane], lanes: usize, panels: &mut [Lane]) {
    let width = lanes * LANES;
    assert_eq!(panels.len(), table.len().div_ceil(width) * width, "panels of {width} lanes each");
    for (rows, panel) in table.chunks(width).zip(panels.chunks_exact_mut(width)) {
        if rows.len() < width {
            panel.fill(ZERO);
        }
        for (r, row) in rows.chunks_exact(lanes).enumerate() {
            for (lane, columns) in row.iter().zip(panel.as_chunks_mut::<LANES>().0) {
                for (column, x) in columns.iter_mut().zip(lane.0) {
                    column.0[r] = x;
                }
            }
        }
    }
}

/// The dot product of each query with each row of a packed table (see [`pack_panels`]). `out` has one lane for each
/// query and panel; the lanes of a query start `stride` lanes after those of the one before.
///
/// # Panics
/// If the sizes are inconsistent.
pub fn dots_packed(queries: &[Lane], lanes: usize, panels: &[Lane], out: &mut [Lane], stride: usize) {
    let width = lanes * LANES;
    let n_panels = panels.len() / width;
    assert!(n_panels <= stride, "one lane for each panel");
    assert_eq!(out.len(), queries.len() / lanes * stride, "`stride` lanes for each query");
    let queries = Weights { values: bytemuck::cast_slice(queries), row_stride: width, col_stride: 1 };
    dispatch!(level(), simd => {
        let is_wide = has_many_registers(simd) && out.len() >= WIDE_ROWS * stride;
        let wide = if is_wide { n_panels - n_panels % WIDE_PANELS } else { 0 };
        let (together, single) = panels.split_at(wide * width);
        for (p, panels) in together.chunks_exact(WIDE_PANELS * width).enumerate() {
            dots_wide(simd, queries, panels, width, &mut out[p * WIDE_PANELS..], stride);
        }
        for (p, panel) in (wide..).zip(single.chunks_exact(width)) {
            add_product::<_, false>(simd, queries, panel, 1, &mut out[p..], stride);
        }
    });
}

/// [`dots_packed`] for [`WIDE_PANELS`] panels: tiles of several panels load fewer elements for each multiply-add. The inner index goes
/// in steps, so that the panels stay in the first-level cache.
#[inline(always)]
fn dots_wide<S: Simd>(
    simd: S,
    queries: Weights<'_>,
    panels: &[Lane],
    width: usize,
    out: &mut [Lane],
    stride: usize,
) {
    let rows = out.len().div_ceil(stride);
    let whole = rows - rows % WIDE_ROWS;
    for first in (0..width).step_by(WIDE_DEPTH) {
        let part = |p: usize| &panels[p * width..][first..width.min(first + WIDE_DEPTH)];
        let parts: [&[Lane]; WIDE_PANELS] = std::array::from_fn(part);
        for m in (0..whole).step_by(WIDE_ROWS) {
            let (queries, out) = (queries.skip(m, first), &mut out[m * stride..]);
            match first {
                0 => wide_tile::<_, false>(simd, queries, parts, out, stride),
                _ => wide_tile::<_, true>(simd, queries, parts, out, stride),
            }
        }
    }
    if whole < rows {
        let (queries, out) = (queries.skip(whole, 0), &mut out[whole * stride..]);
        for (p, panel) in panels.chunks_exact(width).enumerate() {
            add_product::<_, false>(simd, queries, panel, 1, &mut out[p..], stride);
        }
    }
}

/// [`dots_wide`] for the first [`WIDE_ROWS`] rows, accumulated in registers; added to `out` if `ADD`.
#[inline(always)]
fn wide_tile<S: Simd, const ADD: bool>(
    simd: S,
    weights: Weights<'_>,
    panels: [&[Lane]; WIDE_PANELS],
    out: &mut [Lane],
    stride: usize,
) {
    let depth = panels[0].len();
    let last = (WIDE_ROWS - 1) * weights.row_stride + (depth - 1) * weights.col_stride;
    assert!(last < weights.values.len(), "too few weights");
    let mut sums = [[f32x16::splat(simd, 0.0); WIDE_PANELS]; WIDE_ROWS];
    if ADD {
        for (m, sums) in sums.iter_mut().enumerate() {
            for (p, sum) in sums.iter_mut().enumerate() {
                *sum = load(simd, &out[m * stride + p]);
            }
        }
    }
    let [first, second, third] = panels;
    for (k, ((first, second), third)) in first.iter().zip(second).zip(third).enumerate() {
        let lanes = [load(simd, first), load(simd, second), load(simd, third)];
        for (m, sums) in sums.iter_mut().enumerate() {
            // SAFETY: m < WIDE_ROWS and k < depth, so the index is at most `last`, which the assertion above has checked. The
            // bounds check would cost a branch for every few multiply-adds.
            let weight =
                unsafe { *weights.values.get_unchecked(m * weights.row_stride + k * weights.col_stride) };
            let weight = f32x16::splat(simd, weight);
            for (sum, &lane) in sums.iter_mut().zip(&lanes) {
                *sum = lane.mul_add(weight, *sum);
            }
        }
    }
    for (m, sums) in sums.iter().enumerate() {
        for (p, &sum) in sums.iter().enumerate() {
            store(sum, &mut out[m * stride + p]);
        }
    }
}

/// `out[m] += Σ_k weights[m · stride + k] · table[k]`, over all rows of the table.
///
/// # Panics
/// If the sizes are inconsistent.
pub fn add_weighted_sums(weights: &[f32], stride: usize, table: &[Lane], lanes: usize, out: &mut [Lane]) {
    add_sums(Weights { values: weights, row_stride: stride, col_stride: 1 }, table, lanes, out);
}

/// `out[m] += Σ_k weights[k · stride + m] · table[k]`: [`add_weighted_sums`] with the weights transposed.
///
/// # Panics
/// If the sizes are inconsistent.
pub fn add_weighted_sums_transposed(
    weights: &[f32],
    stride: usize,
    table: &[Lane],
    lanes: usize,
    out: &mut [Lane],
) {
    add_sums(Weights { values: weights, row_stride: 1, col_stride: stride }, table, lanes, out);
}

/// The left factor of a product: element `(m, k)` is at `m · row_stride + k · col_stride`.
#[derive(Clone, Copy)]
pub(crate) struct Weights<'a> {
    pub values: &'a [f32],
    pub row_stride: usize,
    pub col_stride: usize,
}

impl<'a> Weights<'a> {
    #[inline(always)]
    pub fn skip(self, rows: usize, cols: usize) -> Self {
        Self { values: &self.values[rows * self.row_stride + cols * self.col_stride..], ..self }
    }
}

fn add_sums(weights: Weights<'_>, table: &[Lane], lanes: usize, out: &mut [Lane]) {
    dispatch!(level(), simd => {
        let wide = if has_many_registers(simd) { lanes - lanes % WIDE_LANES } else { 0 };
        for (block, table) in table.chunks(DEPTH * lanes).enumerate() {
            let weights = weights.skip(0, block * DEPTH);
            for l in (0..wide).step_by(WIDE_LANES) {
                add_wide_product(simd, weights, &table[l..], lanes, &mut out[l..]);
            }
            for l in wide..lanes {
                add_product::<_, true>(simd, weights, &table[l..], lanes, &mut out[l..], lanes);
            }
        }
    });
}

/// The first [`WIDE_LANES`] lanes of `out[m] += Σ_k weights(m, k) · table[k]`: tiles of several lanes load fewer elements for each
/// multiply-add.
#[inline(always)]
pub(crate) fn add_wide_product<S: Simd>(
    simd: S,
    weights: Weights<'_>,
    table: &[Lane],
    lanes: usize,
    out: &mut [Lane],
) {
    let rows = out.len().div_ceil(lanes);
    let whole = rows - rows % TILE;
    for m in (0..whole).step_by(TILE) {
        lanes_tile(simd, weights.skip(m, 0), table, lanes, &mut out[m * lanes..]);
    }
    if whole < rows {
        let (weights, out) = (weights.skip(whole, 0), &mut out[whole * lanes..]);
        for l in 0..WIDE_LANES {
            add_product::<_, true>(simd, weights, &table[l..], lanes, &mut out[l..], lanes);
        }
    }
}

/// [`add_wide_product`] for the first [`TILE`] rows, accumulated in registers.
#[inline(always)]
fn lanes_tile<S: Simd>(simd: S, weights: Weights<'_>, table: &[Lane], lanes: usize, out: &mut [Lane]) {
    let depth = table.len().div_ceil(lanes);
    let last = (TILE - 1) * weights.row_stride + (depth - 1) * weights.col_stride;
    assert!(last < weights.values.len(), "too few weights");
    let mut sums = [[f32x16::splat(simd, 0.0); WIDE_LANES]; TILE];
    for (m, sums) in sums.iter_mut().enumerate() {
        for (l, sum) in sums.iter_mut().enumerate() {
            *sum = load(simd, &out[m * lanes + l]);
        }
    }
    for (k, row) in table.chunks(lanes).enumerate() {
        let [a, b, c, d] = row.first_chunk().expect("a row has these lanes");
        let row = [load(simd, a), load(simd, b), load(simd, c), load(simd, d)];
        for (m, sums) in sums.iter_mut().enumerate() {
            // SAFETY: m < TILE and k < depth, which is the number of rows, so the index is at most `last`, which the assertion
            // above has checked. The bounds check would cost a branch for every few multiply-adds.
            let weight =
                unsafe { *weights.values.get_unchecked(m * weights.row_stride + k * weights.col_stride) };
            let weight = f32x16::splat(simd, weight);
            for (sum, &lane) in sums.iter_mut().zip(&row) {
                *sum = lane.mul_add(weight, *sum);
            }
        }
    }
    for (m, sums) in sums.iter().enumerate() {
        for (l, &sum) in sums.iter().enumerate() {
            store(sum, &mut out[m * lanes + l]);
        }
    }
}

/// `out[m · out_stride] += Σ_k weights(m, k) · table[k · stride]` for all m and k; `=` instead of `+=` unless `ADD`.
#[inline(always)]
fn add_product<S: Simd, const ADD: bool>(
    simd: S,
    weights: Weights<'_>,
    table: &[Lane],
    stride: usize,
    out: &mut [Lane],
    out_stride: usize,
) {
    let rows = out.len().div_ceil(out_stride);
    let mut wide = 0;
    if has_many_registers(simd) {
        wide = rows - rows % WIDE;
        for m in (0..wide).step_by(WIDE) {
            let (weights, out) = (weights.skip(m, 0), &mut out[m * out_stride..]);
            tile::<S, WIDE, ADD>(simd, weights, table, stride, out, out_stride);
        }
    }
    let whole = rows - (rows - wide) % TILE;
    for m in (wide..whole).step_by(TILE) {
        tile::<S, TILE, ADD>(simd, weights.skip(m, 0), table, stride, &mut out[m * out_stride..], out_stride);
    }
    if whole < rows {
        let (weights, out) = (weights.skip(whole, 0), &mut out[whole * out_stride..]);
        match rows - whole {
            1 => tile::<S, 1, ADD>(simd, weights, table, stride, out, out_stride),
            2 => tile::<S, 2, ADD>(simd, weights, table, stride, out, out_stride),
            3 => tile::<S, 3, ADD>(simd, weights, table, stride, out, out_stride),
            4 => tile::<S, 4, ADD>(simd, weights, table, stride, out, out_stride),
            _ => tile::<S, 5, ADD>(simd, weights, table, stride, out, out_stride),
        }
    }
}

/// [`add_product`] for the first `M` rows, accumulated in registers.
#[inline(always)]
pub(crate) fn tile<S: Simd, const M: usize, const ADD: bool>(
    simd: S,
    weights: Weights<'_>,
    table: &[Lane],
    stride: usize,
    out: &mut [Lane],
    out_stride: usize,
) {
    let depth = table.len().div_ceil(stride);
    let last = (M - 1) * weights.row_stride + (depth - 1) * weights.col_stride;
    assert!(last < weights.values.len(), "too few weights");
    let mut sums = [f32x16::splat(simd, 0.0); M];
    if ADD {
        for (m, sum) in sums.iter_mut().enumerate() {
            *sum = load(simd, &out[m * out_stride]);
        }
    }
    for (k, lane) in table.iter().step_by(stride).enumerate() {
        let lane = load(simd, lane);
        for (m, sum) in sums.iter_mut().enumerate() {
            // SAFETY: m < M and k < depth, which is the number of items of the iterator, so the index is at most `last`,
            // which the assertion above has checked. The bounds check would cost a branch per multiply-add.
            let weight =
                unsafe { *weights.values.get_unchecked(m * weights.row_stride + k * weights.col_stride) };
            *sum = lane.mul_add(f32x16::splat(simd, weight), *sum);
        }
    }
    for (m, sum) in sums.into_iter().enumerate() {
        store(sum, &mut out[m * out_stride]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use crate::simd::at_every_level;

    fn number(r: usize, c: usize) -> f32 {
        ((r * 31 + c * 7) % 13) as f32 - 6.0
    }

    /// Small integers: the sums are exact in any order.
    #[test]
    fn dot_products_agree_with_the_scalar_loop_for_any_shape() {
        at_every_level(|| {
            for (n_queries, n_rows, cols) in
                [(1, 1, 1), (7, 16, 16), (6, 17, 20), (13, 50, 64), (21, 100, 150)]
            {
                let queries = Matrix::from_fn(n_queries, cols, number);
                let table = Matrix::from_fn(n_rows, cols, |r, c| number(c, r + 3));
                let width = table.lanes() * LANES;
                let mut panels = vec![Lane([f32::NAN; LANES]); n_rows.div_ceil(LANES) * width];
                pack_panels(table.as_lanes(), table.lanes(), &mut panels);
                let mut out = Matrix::zeros(n_queries, n_rows);
                let stride = out.lanes();
                dots_packed(queries.as_lanes(), table.lanes(), &panels, out.as_lanes_mut(), stride);
                for q in 0..n_queries {
                    for r in 0..n_rows {
                        let dot: f32 = queries.row(q).iter().zip(table.row(r)).map(|(a, b)| a * b).sum();
                        assert_eq!(out.row(q)[r], dot, "{n_queries} {n_rows} {cols}");
                    }
                }
            }
        });
    }

    /// The scores of a ranking: with fused multiply-adds where the level has them, and only there.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_level_decides_how_scores_are_rounded() {
        use crate::simd::level_name;
        let queries = Matrix::from_fn(3, 40, |r, c| (1.0 + number(r, c)).sin());
        let table = Matrix::from_fn(20, 40, |r, c| (2.0 + number(c, r)).cos());
        let mut panels = vec![Lane([0.0; LANES]); 2 * table.lanes() * LANES];
        pack_panels(table.as_lanes(), table.lanes(), &mut panels);
        let chain = |fused: bool| {
            let add = |sum: f32, (a, b): (&f32, &f32)| if fused { a.mul_add(*b, sum) } else { a * b + sum };
            let score = |q: usize, r: usize| queries.row(q).iter().zip(table.row(r)).fold(0.0, add);
            Matrix::from_fn(3, 20, score)
        };
        assert_ne!(chain(true), chain(false));
        at_every_level(|| {
            let mut out = Matrix::zeros(3, 20);
            let stride = out.lanes();
            dots_packed(queries.as_lanes(), table.lanes(), &panels, out.as_lanes_mut(), stride);
            let expected = chain(level_name() != "baseline");
            (0..3).for_each(|q| assert_eq!(out.row(q), expected.row(q), "{}", level_name()));
        });
    }

    #[test]
    fn weighted_sums_agree_with_the_scalar_loop_for_any_shape() {
        at_every_level(|| {
            for (n_out, n_rows, cols) in [(1, 1, 1), (6, 3, 16), (11, 150, 33), (13, 70, 64), (20, 130, 100)]
            {
                let table = Matrix::from_fn(n_rows, cols, number);
                let weights = Matrix::from_fn(n_out, n_rows, |m, k| number(k, m));
                let transposed = Matrix::from_fn(n_rows, n_out, number);
                let (mut out, mut other) = (Matrix::from_fn(n_out, cols, number), Matrix::zeros(n_out, cols));
                let flat = |m: &Matrix| bytemuck::cast_slice::<_, f32>(m.as_lanes()).to_vec();
                let (lanes, stride) = (table.lanes(), weights.lanes() * LANES);
                add_weighted_sums(&flat(&weights), stride, table.as_lanes(), lanes, out.as_lanes_mut());
                let (weights_t, stride) = (flat(&transposed), transposed.lanes() * LANES);
                add_weighted_sums_transposed(
                    &weights_t,
                    stride,
                    table.as_lanes(),
                    lanes,
                    other.as_lanes_mut(),
                );
                for m in 0..n_out {
                    for c in 0..cols {
                        let sum: f32 = (0..n_rows).map(|k| weights.row(m)[k] * table.row(k)[c]).sum();
                        assert_eq!((out.row(m)[c], other.row(m)[c]), (sum + number(m, c), sum));
                    }
                }
            }
        });
    }

    /// Each score has the bits of the scalar chain, whatever is computed along with it: a list for one user is the same
    /// as in a batch.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn dot_products_are_chains_of_multiply_adds_to_the_bit() {
        use crate::{simd::level_name, test_data::fractions};

        at_every_level(|| {
            for (n_queries, n_rows, cols) in
                [(1, 37, 16), (7, 1, 17), (19, 53, 64), (30, 40, 100), (25, 100, 150)]
            {
                let (queries, table) = (fractions(n_queries, cols, 1), fractions(n_rows, cols, 2));
                let mut panels = vec![ZERO; n_rows.div_ceil(LANES) * table.lanes() * LANES];
                pack_panels(table.as_lanes(), table.lanes(), &mut panels);
                let mut out = Matrix::zeros(n_queries, n_rows);
                let stride = out.lanes();
                dots_packed(queries.as_lanes(), table.lanes(), &panels, out.as_lanes_mut(), stride);
                for (q, r) in (0..n_queries).flat_map(|q| (0..n_rows).map(move |r| (q, r))) {
                    let dot = queries.row(q).iter().zip(table.row(r)).fold(0.0f32, |sum, (&a, &b)| {
                        if level_name() == "baseline" { a * b + sum } else { a.mul_add(b, sum) }
                    });
                    assert_eq!(out.row(q)[r].to_bits(), dot.to_bits(), "{}", level_name());
                }
            }
        });
    }

    /// Fractions round in every step: only the same chain of multiply-adds gives the same bits.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn weighted_sums_are_chains_of_multiply_adds_to_the_bit() {
        use crate::{simd::level_name, test_data::fractions};

        at_every_level(|| {
            for (n_out, n_rows, cols) in [(7, 150, 20), (15, 100, 100)] {
                let (weights, table) = (fractions(n_out, n_rows, 1), fractions(n_rows, cols, 2));
                let mut out = fractions(n_out, cols, 3);
                add_weighted_sums(
                    &weights.to_dense(),
                    n_rows,
                    table.as_lanes(),
                    table.lanes(),
                    out.as_lanes_mut(),
                );
                for m in 0..n_out {
                    for c in 0..cols {
                        let sum = (0..n_rows).fold(fractions(n_out, cols, 3).row(m)[c], |sum, k| {
                            let (weight, x) = (weights.row(m)[k], table.row(k)[c]);
                            if level_name() == "baseline" { weight * x + sum } else { weight.mul_add(x, sum) }
                        });
                        assert_eq!(out.row(m)[c].to_bits(), sum.to_bits(), "{}", level_name());
                    }
                }
            }
        });
    }

    #[test]
    #[should_panic(expected = "too few weights")]
    fn too_few_weights_are_rejected() {
        add_weighted_sums(&[1.0; 5], 3, &[ZERO; 3], 1, &mut [ZERO; 2]);
    }
}
