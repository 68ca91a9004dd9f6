//! Small least-squares problems, one per user or item: Gram matrices, and the solution of the normal equations by a
//! Cholesky factorisation.
//!
//! A matrix has `16 · lanes` rows of `lanes` lanes. Of a symmetric one only the upper triangle is read and written, by
//! whole lanes: row `m` from lane `m / 16` on.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::dense::{WIDE_LANES, Weights, add_wide_product, tile};
use crate::simd::{has_many_registers, level, load, store, sum_each};
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
    dispatch!(level(), simd => {
        for rows in rows.chunks((CACHED / lanes).max(LANES) * lanes) {
            let weights =
                Weights { values: bytemuck::cast_slice(rows), row_stride: 1, col_stride: LANES * lanes };
            // Groups of lanes that are computed together above the diagonal, where there are registers for it.
            let wide = if has_many_registers(simd) { lanes - lanes % WIDE_LANES } else { 0 };
            for l in (WIDE_LANES..wide).step_by(WIDE_LANES) {
                add_wide_product(simd, weights, &rows[l..], lanes, &mut gram[l..LANES * l * lanes]);
            }
            for l in 0..lanes {
                let first = if l < wide { l - l % WIDE_LANES } else { 0 };
                for m in (LANES * first..LANES * (l + 1)).step_by(LANES) {
                    add_sixteen_rows(simd, weights.skip(m, 0), &rows[l..], lanes, &mut gram[m * lanes + l..]);
                }
            }
        }
    });
}

/// Lanes of rows that stay in the first-level cache while they are multiplied with each other.
const CACHED: usize = 512;

/// Sixteen rows of a Gram matrix, one lane of each, in tiles that fit into the registers.
#[inline(always)]
fn add_sixteen_rows<S: Simd>(simd: S, weights: Weights<'_>, table: &[Lane], lanes: usize, out: &mut [Lane]) {
    if has_many_registers(simd) {
        return tile::<_, LANES, true>(simd, weights, table, lanes, out, lanes);
    }
    tile::<_, 6, true>(simd, weights, table, lanes, out, lanes);
    tile::<_, 6, true>(simd, weights.skip(6, 0), table, lanes, &mut out[6 * lanes..], lanes);
    tile::<_, 4, true>(simd, weights.skip(12, 0), table, lanes, &mut out[12 * lanes..], lanes);
}

/// Solves `matrix · x = rhs` for a symmetric positive definite matrix, of which the upper triangle is given. The solution
/// replaces `rhs`; the matrix is overwritten. `false` if the matrix is not positive definite, or not finite.
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

/// Rows that are factorised together: the chain of square roots and divisions is then one of scalars.
const FOUR: usize = 4;

/// [`solve_normal_equations`] for `L` lanes; 0: any number.
#[inline(always)]
fn solve<S: Simd, const L: usize>(simd: S, matrix: &mut [Lane], lanes: usize, rhs: &mut [Lane]) -> bool {
    let lanes = if L == 0 { lanes } else { L };
    for m in (0..LANES * lanes).step_by(FOUR) {
        subtract_earlier_rows(simd, matrix, lanes, m);
        let Some(corner) = Corner::factorise(matrix, lanes, m) else { return false };
        corner.finish_rows(simd, matrix, lanes, m);
        corner.forward(simd, matrix, lanes, m, rhs);
    }
    for m in (0..LANES * lanes).step_by(FOUR).rev() {
        backward(simd, matrix, lanes, m, rhs);
    }
    true
}

/// Subtracts from four rows what the factorised rows above them contribute.
#[inline(always)]
fn subtract_earlier_rows<S: Simd>(simd: S, matrix: &mut [Lane], lanes: usize, m: usize) {
    let (above, rows) = matrix.split_at_mut(m * lanes);
    let (first, at) = (m / LANES, m % LANES);
    for l in first..lanes {
        let mut sums: [f32x16<S>; FOUR] = std::array::from_fn(|j| load(simd, &rows[j * lanes + l]));
        for row in above.chunks_exact(lanes) {
            let x = load(simd, &row[l]);
            let factors = &row[first].0[at..at + FOUR];
            for j in 0..FOUR {
                sums[j] = x.mul_add(f32x16::splat(simd, -factors[j]), sums[j]);
            }
        }
        for (j, sum) in sums.into_iter().enumerate() {
            store(sum, &mut rows[j * lanes + l]);
        }
    }
}

/// The factor of four rows and columns: what is above its diagonal, and the inverse of the diagonal.
struct Corner {
    above: [[f32; FOUR]; FOUR],
    inverse: [f32; FOUR],
}

impl Corner {
    #[inline(always)]
    fn factorise(matrix: &[Lane], lanes: usize, m: usize) -> Option<Self> {
        let (first, at) = (m / LANES, m % LANES);
        let mut above = [[0.0; FOUR]; FOUR];
        let mut inverse = [0.0; FOUR];
        for (j, row) in above.iter_mut().enumerate() {
            row.copy_from_slice(&matrix[(m + j) * lanes + first].0[at..at + FOUR]);
        }
        for k in 0..FOUR {
            let pivot = above[k][k];
            if !(pivot > 0.0 && pivot.is_finite()) {
                return None;
            }
            inverse[k] = 1.0 / pivot.sqrt();
            above[k][k + 1..].iter_mut().for_each(|x| *x *= inverse[k]);
            for j in k + 1..FOUR {
                for c in j..FOUR {
                    above[j][c] -= above[k][j] * above[k][c];
                }
            }
        }
        Some(Self { above, inverse })
    }

    /// Turns the four rows into rows of the factor, with zeros before the corner and inverses on the diagonal.
    #[inline(always)]
    fn finish_rows<S: Simd>(&self, simd: S, matrix: &mut [Lane], lanes: usize, m: usize) {
        let (first, at) = (m / LANES, m % LANES);
        for l in first..lanes {
            let mut rows: [f32x16<S>; FOUR] =
                std::array::from_fn(|j| load(simd, &matrix[(m + j) * lanes + l]));
            for j in 0..FOUR {
                for k in 0..j {
                    rows[j] = rows[k].mul_add(f32x16::splat(simd, -self.above[k][j]), rows[j]);
                }
                rows[j] *= f32x16::splat(simd, self.inverse[j]);
            }
            for (j, &row) in rows.iter().enumerate() {
                let row = if l == first { row * load(simd, &FROM[at]) } else { row };
                store(row, &mut matrix[(m + j) * lanes + l]);
            }
        }
        for j in 0..FOUR {
            matrix[(m + j) * lanes + first].0[at + j] = self.inverse[j];
        }
    }

    /// The forward substitution for the four rows.
    #[inline(always)]
    fn forward<S: Simd>(&self, simd: S, matrix: &[Lane], lanes: usize, m: usize, rhs: &mut [Lane]) {
        let (first, at) = (m / LANES, m % LANES);
        let mut y = [0.0; FOUR];
        y.copy_from_slice(&rhs[first].0[at..at + FOUR]);
        for k in 0..FOUR {
            y[k] *= self.inverse[k];
            for c in k + 1..FOUR {
                y[c] -= self.above[k][c] * y[k];
            }
        }
        for l in first..lanes {
            let mut sum = load(simd, &rhs[l]);
            for (j, &y) in y.iter().enumerate() {
                sum = load(simd, &matrix[(m + j) * lanes + l]).mul_add(f32x16::splat(simd, -y), sum);
            }
            store(sum, &mut rhs[l]);
        }
        rhs[first].0[at..at + FOUR].copy_from_slice(&y);
    }
}

/// The backward substitution for four rows.
#[inline(always)]
fn backward<S: Simd>(simd: S, matrix: &[Lane], lanes: usize, m: usize, rhs: &mut [Lane]) {
    let (first, at) = (m / LANES, m % LANES);
    let mut x = [0.0; FOUR];
    x.copy_from_slice(&rhs[first].0[at..at + FOUR]);
    rhs[first].0[at..at + FOUR].fill(0.0);
    let mut sums = [f32x16::splat(simd, 0.0); FOUR];
    for l in first..lanes {
        let known = load(simd, &rhs[l]);
        for (j, sum) in sums.iter_mut().enumerate() {
            *sum = load(simd, &matrix[(m + j) * lanes + l]).mul_add(known, *sum);
        }
    }
    let sums = sum_each(simd, sums);
    for j in (0..FOUR).rev() {
        let row = &matrix[(m + j) * lanes + first].0[at..at + FOUR];
        x[j] -= sums[j];
        for c in j + 1..FOUR {
            x[j] -= row[c] * x[c];
        }
        x[j] *= row[j];
    }
    rhs[first].0[at..at + FOUR].copy_from_slice(&x);
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
            for (n, cols) in [(0, 16), (1, 3), (7, 16), (30, 33), (5, 64), (20, 150), (9, 256)] {
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
                let row = a[k].clone();
                a[m].iter_mut().zip(row).skip(k).for_each(|(x, pivot)| *x -= factor * pivot);
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
