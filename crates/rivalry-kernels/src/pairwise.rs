//! Dot products of all pairs of a few rows.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::simd::{has_many_registers, level, load, sum_each};
use crate::{LANES, Lane};

/// Columns of a tile: as many sums as are reduced together.
const FOUR: usize = 4;

/// The upper triangle of `rows · rowsᵀ`: `out` gets the dot product of rows m and n at row m, column n, for m ≤ n. Its rows have
/// `stride` lanes. Below the diagonal some are written, too.
///
/// # Panics
/// If the sizes are inconsistent.
pub fn pairwise_dots(rows: &[Lane], lanes: usize, out: &mut [Lane], stride: usize) {
    let n = rows.len() / lanes;
    assert!(n <= stride * LANES && n * stride <= out.len(), "room for {n} × {n} products");
    let out: &mut [f32] = bytemuck::cast_slice_mut(out);
    let stride = stride * LANES;
    dispatch!(level(), simd => {
        // As many sums as fit into the registers; each is the same whatever is summed beside it.
        match has_many_registers(simd) {
            true => triangle::<_, 4>(simd, rows, lanes, out, stride),
            false => triangle::<_, 1>(simd, rows, lanes, out, stride),
        }
    });
}

/// [`pairwise_dots`] in tiles of `R` rows.
#[inline(always)]
fn triangle<S: Simd, const R: usize>(simd: S, rows: &[Lane], lanes: usize, out: &mut [f32], stride: usize) {
    let n = rows.len() / lanes;
    let row = |at: usize| &rows[at.min(n - 1) * lanes..][..lanes];
    for m in (0..n).step_by(R) {
        let left: [&[Lane]; R] = std::array::from_fn(|r| row(m + r));
        for c in (m / FOUR * FOUR..n).step_by(FOUR) {
            let right: [&[Lane]; FOUR] = std::array::from_fn(|r| row(c + r));
            let mut sums = [[f32x16::splat(simd, 0.0); FOUR]; R];
            for l in 0..lanes {
                let right = right.map(|row| load(simd, &row[l]));
                for (sums, left) in sums.iter_mut().zip(left) {
                    let left = load(simd, &left[l]);
                    for (sum, right) in sums.iter_mut().zip(right) {
                        *sum = left.mul_add(right, *sum);
                    }
                }
            }
            let columns = FOUR.min(n - c);
            for (r, sums) in sums.into_iter().enumerate().take(n - m) {
                out[(m + r) * stride + c..][..columns].copy_from_slice(&sum_each(simd, sums)[..columns]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::at_every_level;
    use crate::test_data::{fractions, integers};
    use crate::{Matrix, ZERO, dots};

    #[test]
    fn they_agree_with_the_scalar_loop_and_leave_the_rest_alone() {
        at_every_level(|| {
            for (n, cols) in [(0, 16), (1, 3), (4, 16), (5, 64), (17, 33), (31, 40)] {
                let rows = integers(n, cols, 1);
                let (height, width) = (n.div_ceil(LANES) * LANES, n.div_ceil(LANES));
                let mut out = vec![Lane([7.5; LANES]); height * width];
                pairwise_dots(rows.as_lanes(), rows.lanes(), &mut out, width);
                let out: &[f32] = bytemuck::cast_slice(&out);
                for (a, b) in (0..height).flat_map(|a| (a..height).map(move |b| (a, b))) {
                    let dot = match b < n {
                        true => rows.row(a).iter().zip(rows.row(b)).map(|(x, y)| x * y).sum(),
                        false => 7.5,
                    };
                    assert_eq!(out[a * height + b], dot, "{n} rows of {cols}: {a}, {b}");
                }
            }
        });
    }

    #[test]
    fn each_has_the_bits_of_a_single_dot_product() {
        at_every_level(|| {
            let (rows, ids) = (fractions(23, 50, 1), (0..23).collect::<Vec<u32>>());
            let mut out = vec![ZERO; 32 * 2];
            pairwise_dots(rows.as_lanes(), rows.lanes(), &mut out, 2);
            let out: &[f32] = bytemuck::cast_slice(&out);
            for a in 0..23 {
                let mut single = Matrix::zeros(1, 23);
                dots(rows.row_lanes(a), rows.as_lanes(), &ids, single.row_mut(0));
                assert_eq!(out[a * 32 + a..][..23 - a], single.row(0)[a..], "row {a}");
            }
        });
    }
}
