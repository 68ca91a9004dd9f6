//! Small least-squares problems, one per user or item: Gram matrices, and the solution of the normal equations by a
//! Cholesky factorisation.
//!
//! A matrix has `16 · lanes` rows of `lanes` lanes. Of a symmetric one only the upper triangle is read and written, by
//! whole lanes: row `m` from lane `m / 16` on.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::dense::{Weights, tile};
use crate::simd::{dot, level, load, store};
use crate::{LANES, Lane};

/// `gram += Σ_n rows[n] · rows[n]ᵀ`, the upper triangle.
///
/// # Panics
/// If `gram` is not a square matrix of the rows' width.
pub fn add_gram(rows: &[Lane], lanes: usize, gram: &mut [Lane]) {
    assert_eq!(gram.len(), LANES * lanes * lanes, "a square matrix");
    if rows.is_empty() {
        return;
    }
    let weights = Weights { values: bytemuck::cast_slice(rows), row_stride: 1, col_stride: LANES * lanes };
    dispatch!(level(), simd => {
        for l in 0..lanes {
            let table = &rows[l..];
            // Sixteen rows of the result at a time, in tiles that fit into the registers.
            for m in (0..LANES * (l + 1)).step_by(LANES) {
                for (at, six) in [(m, true), (m + 6, true), (m + 12, false)] {
                    let (weights, out) = (weights.skip(at, 0), &mut gram[at * lanes + l..]);
                    match six {
                        true => tile::<_, 6, true>(simd, weights, table, lanes, out, lanes),
                        false => tile::<_, 4, true>(simd, weights, table, lanes, out, lanes),
                    }
                }
            }
        }
    });
}

/// Solves `matrix · x = rhs` for a symmetric positive definite matrix, of which the upper triangle is given. The solution
/// replaces `rhs`, and the factor `R` of `matrix = Rᵀ · R` the upper triangle. `false` if the matrix is not positive
/// definite, or not finite.
///
/// # Panics
/// If the sizes are inconsistent.
#[must_use]
pub fn solve_normal_equations(matrix: &mut [Lane], lanes: usize, rhs: &mut [Lane]) -> bool {
    assert_eq!((matrix.len(), rhs.len()), (LANES * lanes * lanes, lanes), "a square matrix and a vector");
    match lanes {
        1 => dispatch!(level(), simd => solve::<_, 1>(simd, matrix, lanes, rhs)),
        2 => dispatch!(level(), simd => solve::<_, 2>(simd, matrix, lanes, rhs)),
        4 => dispatch!(level(), simd => solve::<_, 4>(simd, matrix, lanes, rhs)),
        _ => dispatch!(level(), simd => solve::<_, 0>(simd, matrix, lanes, rhs)),
    }
}

/// Lane `k` has zeros before element `k`, and ones from there on.
const FROM: [Lane; LANES] = {
    let mut lanes = [Lane([0.0; LANES]); LANES];
    let mut k = 0;
    while k < LANES {
        let mut l = k;
        while l < LANES {
            lanes[k].0[l] = 1.0;
            l += 1;
        }
        k += 1;
    }
    lanes
};

/// [`solve_normal_equations`] for `L` lanes; 0: any number.
#[inline(always)]
fn solve<S: Simd, const L: usize>(simd: S, matrix: &mut [Lane], lanes: usize, rhs: &mut [Lane]) -> bool {
    let lanes = if L == 0 { lanes } else { L };
    for k in 0..LANES * lanes {
        let (first, at) = (k / LANES, k % LANES);
        let (above, below) = matrix.split_at_mut((k + 1) * lanes);
        let row = &mut above[k * lanes..];
        let pivot = row[first].0[at];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        let scale = f32x16::splat(simd, 1.0 / pivot.sqrt());
        for lane in &mut row[first..] {
            store(load(simd, lane) * scale, lane);
        }
        store(load(simd, &row[first]) * load(simd, &FROM[at]), &mut row[first]);
        // The forward substitution goes along: the right-hand side is one more column.
        let y = rhs[first].0[at] / row[first].0[at];
        subtract(simd, y, &row[first..], &mut rhs[first..]);
        rhs[first].0[at] = y;
        for (n, target) in below.chunks_exact_mut(lanes).enumerate() {
            let m = k + 1 + n;
            let factor = row[m / LANES].0[m % LANES];
            subtract(simd, factor, &row[m / LANES..], &mut target[m / LANES..]);
        }
    }
    for k in (0..LANES * lanes).rev() {
        let (first, at) = (k / LANES, k % LANES);
        let row = &matrix[k * lanes..][first..lanes];
        let y = std::mem::take(&mut rhs[first].0[at]);
        let x = (y - dot(simd, row, &rhs[first..])) / row[0].0[at];
        rhs[first].0[at] = x;
    }
    true
}

/// `target -= factor · row`. Elements of `target` before the diagonal get numbers that nobody reads.
#[inline(always)]
fn subtract<S: Simd>(simd: S, factor: f32, row: &[Lane], target: &mut [Lane]) {
    let factor = f32x16::splat(simd, -factor);
    for (x, target) in row.iter().zip(target) {
        store(load(simd, x).mul_add(factor, load(simd, target)), target);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use crate::simd::at_every_level;
    use crate::test_data::{fractions, integers};

    #[test]
    fn gram_matrices_agree_with_the_scalar_loop() {
        at_every_level(|| {
            for (n, cols) in [(0, 16), (1, 3), (7, 16), (30, 33), (5, 64)] {
                let rows = integers(n, cols, 1);
                let (lanes, width) = (cols.div_ceil(LANES), cols.div_ceil(LANES) * LANES);
                let mut gram = Matrix::zeros(width, width);
                add_gram(rows.as_lanes(), lanes, gram.as_lanes_mut());
                add_gram(rows.as_lanes(), lanes, gram.as_lanes_mut());
                for a in 0..cols {
                    for b in a..cols {
                        let sum: f32 = (0..n).map(|r| rows.row(r)[a] * rows.row(r)[b]).sum();
                        assert_eq!(gram.row(a)[b], 2.0 * sum, "{n} rows of {cols}");
                    }
                }
            }
        });
    }

    /// The scalar twin: Gaussian elimination in `f64`.
    fn eliminate(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
        let n = b.len();
        for k in 0..n {
            for m in k + 1..n {
                let factor = a[m][k] / a[k][k];
                for c in k..n {
                    a[m][c] -= factor * a[k][c];
                }
                b[m] -= factor * b[k];
            }
        }
        for k in (0..n).rev() {
            let known: f64 = (k + 1..n).map(|c| a[k][c] * b[c]).sum();
            b[k] = (b[k] - known) / a[k][k];
        }
        b
    }

    #[test]
    fn normal_equations_are_solved() {
        at_every_level(|| {
            for cols in [1, 16, 20, 32, 48, 64, 128] {
                let rows = fractions(2 * cols + 1, cols, 1);
                let (lanes, width) = (cols.div_ceil(LANES), cols.div_ceil(LANES) * LANES);
                let mut matrix = Matrix::zeros(width, width);
                (0..width).for_each(|k| matrix.row_mut(k)[k] = 10.0);
                add_gram(rows.as_lanes(), lanes, matrix.as_lanes_mut());
                let mut x = fractions(1, cols, 2);
                let full =
                    (0..cols).map(|r| (0..cols).map(|c| matrix.row(r.min(c))[r.max(c)].into()).collect());
                let exact = eliminate(full.collect(), x.row(0).iter().map(|&x| x.into()).collect());
                assert!(solve_normal_equations(matrix.as_lanes_mut(), lanes, x.as_lanes_mut()));
                let largest = exact.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
                for (x, exact) in x.row(0).iter().zip(&exact) {
                    assert!((f64::from(*x) - exact).abs() < 1e-4 * largest, "{cols}: {x} {exact}");
                }
                let padding: &[f32] = bytemuck::cast_slice(x.as_lanes());
                assert!(padding[cols..].iter().all(|&x| x == 0.0));
            }
        });
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_is_refused() {
        for diagonal in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let mut matrix = Matrix::zeros(16, 16);
            (0..16).for_each(|k| matrix.row_mut(k)[k] = if k == 9 { diagonal } else { 1.0 });
            assert!(!solve_normal_equations(matrix.as_lanes_mut(), 1, &mut [Lane([1.0; 16])]));
        }
    }
}
