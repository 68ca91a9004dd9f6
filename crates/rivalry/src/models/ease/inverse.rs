//! The inverse of a symmetric positive definite matrix, in place: the sweep operator on blocks.
//!
//! For each block k of rows and columns, with D the block on the diagonal and C the rest of its columns,
//!
//! ```text
//! A_kk ← -D⁻¹,   A_ik ← C_i D⁻¹,   A_ij ← A_ij - C_i D⁻¹ C_jᵀ
//! ```
//!
//! After all blocks the matrix is the negative of its inverse. It is symmetric throughout, so only the lower triangle is
//! computed: n³ operations, as many as a Cholesky factorisation and the inverse from it take, but nearly all of them in
//! one large product per block, which threads share evenly.

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};
use rayon::prelude::*;
use rivalry_kernels::LANES;

/// Rows and columns that are eliminated together.
pub(super) const BLOCK: usize = 256;
/// Rows that a task multiplies by the inverse of a block.
const ROWS: usize = 128;
/// Rows of the matrix that a task updates: enough to be worth packing the columns for.
const UPDATED_ROWS: usize = 512;
/// Rows that a task transposes: as many numbers of a row of the matrix lie next to each other.
const TRANSPOSED: usize = 64;

/// How an inversion ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inversion {
    Done,
    Stopped,
    /// In the precision of the matrix.
    NotPositiveDefinite,
}

/// Replaces a symmetric positive definite matrix in row-major order, of which the lower triangle is given, by the negative
/// of its inverse, all of it. `go_on` is told how many of the blocks are done, and says whether to go on.
pub(super) fn negative_inverse(
    matrix: &mut [f32],
    n: usize,
    go_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Inversion {
    let blocks = n.div_ceil(BLOCK);
    let (mut columns, mut products) = (vec![0.0; n * BLOCK], vec![0.0; n * BLOCK]);
    for block in 0..blocks {
        let first = block * BLOCK;
        let size = BLOCK.min(n - first);
        let (columns, products) = (&mut columns[..n * size], &mut products[..n * size]);
        copy_columns(matrix, n, first, columns);
        let Some(inverse) = inverse_of_diagonal(matrix, n, first, size) else {
            return Inversion::NotPositiveDefinite;
        };
        multiply(columns, &inverse, products);
        subtract_products(matrix, n, products, columns);
        write_columns(matrix, n, first, products, &inverse);
        if !go_on(block + 1, blocks) {
            return Inversion::Stopped;
        }
    }
    mirror(matrix, n);
    Inversion::Done
}

/// Copies columns `first..` of the whole matrix, with zeros in place of the block on the diagonal.
fn copy_columns(matrix: &[f32], n: usize, first: usize, columns: &mut [f32]) {
    let size = columns.len() / n;
    let (above, below) = columns.split_at_mut(first * size);
    above.par_chunks_mut(TRANSPOSED * size).enumerate().for_each(|(chunk, out)| {
        let rows = out.len() / size;
        for k in 0..size {
            let row = &matrix[(first + k) * n + chunk * TRANSPOSED..][..rows];
            out[k..].iter_mut().step_by(size).zip(row).for_each(|(x, other)| *x = *other);
        }
    });
    let (diagonal, below) = below.split_at_mut(size * size);
    diagonal.fill(0.0);
    let rows = matrix[(first + size) * n..].par_chunks_exact(n);
    below.par_chunks_exact_mut(size).zip(rows).for_each(|(out, row)| {
        out.copy_from_slice(&row[first..][..size]);
    });
}

/// The inverse of a block on the diagonal, factorised in double precision.
fn inverse_of_diagonal(matrix: &[f32], n: usize, first: usize, size: usize) -> Option<Vec<f32>> {
    let block = Mat::from_fn(size, size, |row, column| {
        let (row, column) = (row.max(column), row.min(column));
        f64::from(matrix[(first + row) * n + first + column])
    });
    let inverse = Llt::new(block.as_ref(), Side::Lower).ok()?.inverse();
    let inverse: Vec<f32> = (0..size * size).map(|at| inverse[(at / size, at % size)] as f32).collect();
    inverse.iter().all(|x| x.is_finite()).then_some(inverse)
}

/// `products = columns · inverse`.
fn multiply(columns: &[f32], inverse: &[f32], products: &mut [f32]) {
    let size = inverse.len().isqrt();
    let inverse = MatRef::from_row_major_slice(inverse, size, size);
    let tasks = columns.par_chunks(ROWS * size).zip(products.par_chunks_mut(ROWS * size));
    tasks.for_each(|(columns, products)| {
        let rows = columns.len() / size;
        let columns = MatRef::from_row_major_slice(columns, rows, size);
        let products = MatMut::from_row_major_slice_mut(products, rows, size);
        matmul(products, Accum::Replace, columns, inverse, 1.0, Par::Seq);
    });
}

/// `matrix -= products · columnsᵀ`, the lower triangle.
fn subtract_products(matrix: &mut [f32], n: usize, products: &[f32], columns: &[f32]) {
    let size = columns.len() / n;
    let tasks = matrix.par_chunks_mut(UPDATED_ROWS * n).zip(products.par_chunks(UPDATED_ROWS * size));
    // The last rows are the longest, so they come first.
    tasks.enumerate().rev().with_max_len(1).for_each(|(task, (matrix, products))| {
        let rows = matrix.len() / n;
        let end = task * UPDATED_ROWS + rows;
        let columns = MatRef::from_row_major_slice(&columns[..end * size], end, size);
        let products = MatRef::from_row_major_slice(products, rows, size);
        let matrix = MatMut::from_row_major_slice_mut(matrix, rows, n).subcols_mut(0, end);
        matmul(matrix, Accum::Add, products, columns.transpose(), -1.0, Par::Seq);
    });
}

/// Writes the block's columns: products, and the negative of the inverse on the diagonal.
fn write_columns(matrix: &mut [f32], n: usize, first: usize, products: &[f32], inverse: &[f32]) {
    let size = products.len() / n;
    let of_block = matrix[first * n..(first + size) * n].par_chunks_mut(LANES * n).enumerate();
    of_block.for_each(|(chunk, rows)| {
        let k = chunk * LANES;
        for (column, product) in products.chunks_exact(size).take(first).enumerate() {
            rows[column..].iter_mut().step_by(n).zip(&product[k..]).for_each(|(x, product)| *x = *product);
        }
        for (row, inverse) in rows.chunks_exact_mut(n).zip(inverse[k * size..].chunks_exact(size)) {
            row[first..].iter_mut().zip(inverse).for_each(|(x, inverse)| *x = -inverse);
        }
    });
    let below = first + size;
    let rows =
        matrix[below * n..].par_chunks_exact_mut(n).zip(products[below * size..].par_chunks_exact(size));
    rows.for_each(|(row, product)| row[first..below].copy_from_slice(product));
}

/// Copies the lower triangle to the upper one.
fn mirror(matrix: &mut [f32], n: usize) {
    for first in (0..n).step_by(BLOCK) {
        let end = (first + BLOCK).min(n);
        let (above, below) = matrix.split_at_mut(end * n);
        let rows = &mut above[first * n..];
        for row in 0..end - first {
            for column in row + 1..end - first {
                rows[row * n + first + column] = rows[column * n + first + row];
            }
        }
        rows.par_chunks_mut(LANES * n).enumerate().for_each(|(chunk, rows)| {
            for (column, other) in (end..).zip(below.chunks_exact(n)) {
                let other = &other[first + chunk * LANES..];
                rows[column..].iter_mut().step_by(n).zip(other).for_each(|(x, other)| *x = *other);
            }
        });
    }
}
