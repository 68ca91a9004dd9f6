//! Products of panels: in blocks of a large matrix, what its factorisation spends its time in.
//!
//! A panel is a table of [`PANEL_LANES`] lanes a row; as a left factor it is read transposed. Every element of a result is one
//! chain of multiply-adds in the order of the inner index, whatever the tiling.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::dense::Weights;
use crate::simd::{has_many_registers, level, load, load_row, prefetch, store, store_row};
use crate::{LANES, Lane};

/// The lanes of a panel's row. Tiles of eight rows and three lanes fill the registers of AVX-512 but for the factors; six rows
/// of one lane those of AVX2.
pub const PANEL_LANES: usize = 3;

/// The columns of a panel.
pub const PANEL: usize = PANEL_LANES * LANES;

/// `out = weights · panel`, for a square matrix in row-major order, whose size is a multiple of [`PANEL`].
///
/// # Panics
/// If the sizes are inconsistent.
pub fn multiply_panel(weights: &[f32], panel: &[Lane], out: &mut [Lane]) {
    let size = panel.len() / PANEL_LANES;
    assert!(size.is_multiple_of(PANEL) && weights.len() == size * size && out.len() == panel.len());
    dispatch!(level(), simd => match has_many_registers(simd) {
        true => multiply::<_, 8, 3>(simd, weights, panel, out),
        false => multiply::<_, 6, 1>(simd, weights, panel, out),
    });
}

/// [`multiply_panel`] in tiles of `M` rows and `L` lanes.
#[inline(always)]
fn multiply<S: Simd, const M: usize, const L: usize>(
    simd: S,
    weights: &[f32],
    panel: &[Lane],
    out: &mut [Lane],
) {
    let size = panel.len() / PANEL_LANES;
    let weights = Weights { values: weights, row_stride: size, col_stride: 1 };
    for m in (0..size).step_by(M) {
        for first in (0..PANEL_LANES).step_by(L) {
            let sums = tile::<S, M, L>(simd, weights.skip(m, 0), panel, first);
            for r in 0..M {
                for l in 0..L {
                    store(sums[r][l], &mut out[(m + r) * PANEL_LANES + first + l]);
                }
            }
        }
    }
}

/// A block of a matrix in row-major order.
#[derive(Debug)]
pub struct Block<'a> {
    /// The matrix from the block's first element to its last row's end.
    pub elements: &'a mut [f32],
    /// How many elements after each other the rows start.
    pub stride: usize,
    /// The columns of the block.
    pub columns: usize,
}

/// `block -= leftᵀ · right` for two panels of the same height and a block of at most [`PANEL`] rows and columns.
///
/// # Panics
/// If the sizes are inconsistent.
pub fn subtract_panel_product(left: &[Lane], right: &[Lane], block: Block<'_>) {
    let (rows, columns) = (block.elements.len().div_ceil(block.stride), block.columns);
    let inside = rows <= PANEL && columns <= PANEL.min(block.stride);
    assert!(left.len() == right.len() && inside, "a block of {rows} × {columns}");
    dispatch!(level(), simd => match has_many_registers(simd) {
        true => subtract::<_, 8, 3>(simd, left, right, block),
        false => subtract::<_, 6, 1>(simd, left, right, block),
    });
}

/// [`subtract_panel_product`] in tiles of `M` rows and `L` lanes.
#[inline(always)]
fn subtract<S: Simd, const M: usize, const L: usize>(
    simd: S,
    left: &[Lane],
    right: &[Lane],
    block: Block<'_>,
) {
    let weights = Weights { values: bytemuck::cast_slice(left), row_stride: 1, col_stride: PANEL };
    let rows = block.elements.len().div_ceil(block.stride);
    for m in (0..rows).step_by(M) {
        // They arrive while the sums are computed.
        for row in block.elements.chunks(block.stride).skip(m).take(M) {
            prefetch(&row[..block.columns]);
        }
        for first in (0..block.columns.div_ceil(LANES)).step_by(L) {
            let sums = tile::<S, M, L>(simd, weights.skip(m, 0), right, first);
            for (r, sums) in sums.iter().enumerate().take(rows - m) {
                let row = &mut block.elements[(m + r) * block.stride..][..block.columns];
                for (l, &sum) in sums.iter().enumerate() {
                    let at = (first + l) * LANES;
                    if at < block.columns {
                        store_row(load_row(simd, row, at, 0.0) - sum, row, at);
                    }
                }
            }
        }
    }
}

/// `Σ_k weights(m, k) · panel[k]` for the first `M` rows, and `L` lanes from the first one given on.
#[inline(always)]
fn tile<S: Simd, const M: usize, const L: usize>(
    simd: S,
    weights: Weights<'_>,
    panel: &[Lane],
    first: usize,
) -> [[f32x16<S>; L]; M] {
    let panel = panel.as_chunks::<PANEL_LANES>().0;
    let last = (M - 1) * weights.row_stride + (panel.len() - 1) * weights.col_stride;
    assert!(last < weights.values.len(), "too few weights");
    let mut sums = [[f32x16::splat(simd, 0.0); L]; M];
    for (k, row) in panel.iter().enumerate() {
        let lanes: [f32x16<S>; L] = std::array::from_fn(|l| load(simd, &row[first + l]));
        for (m, sums) in sums.iter_mut().enumerate() {
            // SAFETY: m < M and k < the panel's height, so the index is at most `last`, which the assertion above has
            // checked. The bounds check would cost a branch for every few multiply-adds.
            let weight =
                unsafe { *weights.values.get_unchecked(m * weights.row_stride + k * weights.col_stride) };
            let weight = f32x16::splat(simd, weight);
            for (sum, &lane) in sums.iter_mut().zip(&lanes) {
                *sum = lane.mul_add(weight, *sum);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ZERO;
    use crate::simd::at_every_level;
    use crate::test_data::{fractions, integers};

    #[test]
    fn a_product_with_a_square_matrix_agrees_with_the_scalar_loop() {
        at_every_level(|| {
            for size in [PANEL, 2 * PANEL] {
                let (weights, panel) = (integers(size, size, 1), integers(size, PANEL, 2));
                let mut out = vec![ZERO; size * PANEL_LANES];
                multiply_panel(&weights.to_dense(), panel.as_lanes(), &mut out);
                let out: &[f32] = bytemuck::cast_slice(&out);
                for (m, c) in (0..size).flat_map(|m| (0..PANEL).map(move |c| (m, c))) {
                    let sum: f32 = (0..size).map(|k| weights.row(m)[k] * panel.row(k)[c]).sum();
                    assert_eq!(out[m * PANEL + c], sum, "{size}: {m}, {c}");
                }
            }
        });
    }

    #[test]
    fn a_product_is_subtracted_from_the_block_and_from_nothing_else() {
        at_every_level(|| {
            for (depth, rows, columns, stride) in
                [(1, 1, 1, 1), (5, 13, 17, 20), (30, 48, 48, 70), (9, 44, 47, 47)]
            {
                let (left, right) = (integers(depth, PANEL, 1), integers(depth, PANEL, 2));
                let before: Vec<f32> = (0..rows * stride).map(|n| (n % 7) as f32).collect();
                let mut out = before.clone();
                let block = Block { elements: &mut out, stride, columns };
                subtract_panel_product(left.as_lanes(), right.as_lanes(), block);
                for (m, c) in (0..rows).flat_map(|m| (0..stride).map(move |c| (m, c))) {
                    let sum: f32 =
                        (0..depth).map(|k| left.row(k)[m] * right.row(k).get(c).unwrap_or(&0.0)).sum();
                    let sum = if c < columns { sum } else { 0.0 };
                    assert_eq!(
                        out[m * stride + c],
                        before[m * stride + c] - sum,
                        "{rows} × {columns}: {m}, {c}"
                    );
                }
            }
        });
    }

    /// Fractions round in every step: only the same chain of multiply-adds gives the same bits.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn products_are_chains_of_multiply_adds_to_the_bit() {
        use crate::simd::level_name;

        at_every_level(|| {
            let (left, right) = (fractions(60, PANEL, 1), fractions(60, PANEL, 2));
            let mut out = vec![0.5; PANEL * PANEL];
            let block = Block { elements: &mut out, stride: PANEL, columns: PANEL };
            subtract_panel_product(left.as_lanes(), right.as_lanes(), block);
            for (m, c) in (0..PANEL).flat_map(|m| (0..PANEL).map(move |c| (m, c))) {
                let sum = (0..60).fold(0.0f32, |sum, k| {
                    let (a, b) = (left.row(k)[m], right.row(k)[c]);
                    if level_name() == "baseline" { a * b + sum } else { a.mul_add(b, sum) }
                });
                assert_eq!(out[m * PANEL + c].to_bits(), (0.5 - sum).to_bits(), "{}", level_name());
            }
        });
    }
}
