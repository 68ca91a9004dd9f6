//! Dense products of tall tables with few columns: all scores of a batch, and the way back of their gradients.
//!
//! Where most of a table is drawn anyway, scoring all of it costs less than picking rows: what is held in registers
//! is used many times. Every element is one chain of fused multiply-adds in the order of the inner index, whatever
//! the tiling, so the bits depend neither on the machine's registers nor on its caches.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::simd::{level, load, store};
use crate::{LANES, Lane, ZERO};

/// Rows of the result that are held in registers together.
const TILE: usize = 6;

/// Steps of the inner index that are taken at a time, so that their rows stay in the first-level cache.
const DEPTH: usize = 64;

/// Rows of a table turned on their side, sixteen at a time: `panels[p · width + c]` holds number `c` of the rows
/// `16p..16p + 16`, where `width` is `16 · lanes`. Missing rows of the last panel are zero.
///
/// # Panics
/// If there are not as many panels as sixteens of rows, the last begun one included.
pub fn turn_into_panels(table: &[Lane], lanes: usize, panels: &mut [Lane]) {
    let width = lanes * LANES;
    assert_eq!(panels.len(), table.len().div_ceil(width) * width, "panels of {width} lanes");
    for (rows, panel) in table.chunks(width).zip(panels.chunks_exact_mut(width)) {
        if rows.len() < width {
            panel.fill(ZERO);
        }
        for (r, row) in rows.chunks_exact(lanes).enumerate() {
            for (numbers, places) in row.iter().zip(panel.as_chunks_mut::<LANES>().0) {
                for (place, number) in places.iter_mut().zip(numbers.0) {
                    place.0[r] = number;
                }
            }
        }
    }
}

/// The dot product of each query with each row in the panels. `out` has a lane for each query and panel.
///
/// # Panics
/// If the sizes do not fit together.
pub fn dots_with_all(queries: &[Lane], lanes: usize, panels: &[Lane], out: &mut [Lane]) {
    let width = lanes * LANES;
    let n_panels = panels.len() / width;
    assert_eq!(out.len(), queries.len() / lanes * n_panels, "a lane for each query and panel");
    let queries = Weights { of: bytemuck::cast_slice(queries), row: width, step: 1 };
    dispatch!(level(), simd => {
        for (p, panel) in panels.chunks_exact(width).enumerate() {
            add_product::<_, false>(simd, queries, panel, 1, &mut out[p..], n_panels);
        }
    });
}

/// `out[m] += Σ_k weights[m · stride + k] · table[k]`, over all rows of the table.
///
/// # Panics
/// If the sizes do not fit together.
pub fn add_weighted_sums(weights: &[f32], stride: usize, table: &[Lane], lanes: usize, out: &mut [Lane]) {
    add_sums(Weights { of: weights, row: stride, step: 1 }, table, lanes, out);
}

/// `out[m] += Σ_k weights[k · stride + m] · table[k]`: the same with the weights transposed.
///
/// # Panics
/// If the sizes do not fit together.
pub fn add_weighted_sums_transposed(
    weights: &[f32],
    stride: usize,
    table: &[Lane],
    lanes: usize,
    out: &mut [Lane],
) {
    add_sums(Weights { of: weights, row: 1, step: stride }, table, lanes, out);
}

/// The left factor of a product: number `(m, k)` stands at `m · row + k · step`.
#[derive(Clone, Copy)]
struct Weights<'a> {
    of: &'a [f32],
    row: usize,
    step: usize,
}

impl<'a> Weights<'a> {
    #[inline(always)]
    fn skip(self, rows: usize, steps: usize) -> Self {
        Self { of: &self.of[rows * self.row + steps * self.step..], ..self }
    }
}

fn add_sums(weights: Weights<'_>, table: &[Lane], lanes: usize, out: &mut [Lane]) {
    dispatch!(level(), simd => {
        for (part, table) in table.chunks(DEPTH * lanes).enumerate() {
            for l in 0..lanes {
                add_product::<_, true>(simd, weights.skip(0, part * DEPTH), &table[l..], lanes, &mut out[l..], lanes);
            }
        }
    });
}

/// `out[m · out_stride] += Σ_k weights(m, k) · table[k · stride]` for all m and k there are; unless it is to be added,
/// what was in `out` is not looked at.
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
    let whole = rows - rows % TILE;
    for m in (0..whole).step_by(TILE) {
        tile::<S, TILE, ADD>(simd, weights.skip(m, 0), table, stride, &mut out[m * out_stride..], out_stride);
    }
    for m in whole..rows {
        tile::<S, 1, ADD>(simd, weights.skip(m, 0), table, stride, &mut out[m * out_stride..], out_stride);
    }
}

/// The same for the first `M` rows, in registers.
#[inline(always)]
fn tile<S: Simd, const M: usize, const ADD: bool>(
    simd: S,
    weights: Weights<'_>,
    table: &[Lane],
    stride: usize,
    out: &mut [Lane],
    out_stride: usize,
) {
    let depth = table.len().div_ceil(stride);
    assert!((M - 1) * weights.row + (depth - 1) * weights.step < weights.of.len(), "weights of all rows");
    let mut sums = [f32x16::splat(simd, 0.0); M];
    if ADD {
        for (m, sum) in sums.iter_mut().enumerate() {
            *sum = load(simd, &out[m * out_stride]);
        }
    }
    for (k, lane) in table.iter().step_by(stride).enumerate() {
        let lane = load(simd, lane);
        for (m, sum) in sums.iter_mut().enumerate() {
            // SAFETY: m < M and k < depth (the number of lanes the iterator gives), and the largest index these
            // allow is within the slice by the assertion above.
            let weight = unsafe { *weights.of.get_unchecked(m * weights.row + k * weights.step) };
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

    /// Small whole numbers: the sums are exact, whatever the order.
    #[test]
    fn all_dot_products_agree_with_the_plain_loop_for_any_shape() {
        at_every_level(|| {
            for (n_queries, n_rows, cols) in [(1, 1, 1), (7, 16, 16), (6, 17, 20), (13, 50, 64)] {
                let queries = Matrix::from_fn(n_queries, cols, number);
                let table = Matrix::from_fn(n_rows, cols, |r, c| number(c, r + 3));
                let width = table.lanes() * LANES;
                let mut panels = vec![Lane([f32::NAN; LANES]); n_rows.div_ceil(LANES) * width];
                turn_into_panels(table.as_lanes(), table.lanes(), &mut panels);
                let mut out = Matrix::zeros(n_queries, n_rows);
                dots_with_all(queries.as_lanes(), table.lanes(), &panels, out.as_lanes_mut());
                for q in 0..n_queries {
                    for r in 0..n_rows {
                        let dot: f32 = queries.row(q).iter().zip(table.row(r)).map(|(a, b)| a * b).sum();
                        assert_eq!(out.row(q)[r], dot, "{n_queries} {n_rows} {cols}");
                    }
                }
            }
        });
    }

    #[test]
    fn weighted_sums_agree_with_the_plain_loop_for_any_shape() {
        at_every_level(|| {
            for (n_out, n_rows, cols) in [(1, 1, 1), (6, 3, 16), (11, 150, 33)] {
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

    #[test]
    #[should_panic(expected = "weights of all rows")]
    fn too_few_weights_are_refused() {
        add_weighted_sums(&[1.0; 5], 3, &[ZERO; 3], 1, &mut [ZERO; 2]);
    }
}
