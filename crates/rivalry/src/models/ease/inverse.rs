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
//! one large product per block, which threads share evenly. Both factors of it are packed into panels once, for all threads.

use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Mat, Side};
use rayon::prelude::*;
use rivalry_kernels::{Block, LANES, Lane, PANEL, PANEL_LANES, ZERO, multiply_panel, subtract_panel_product};

/// Rows and columns that are eliminated together.
pub(super) const BLOCK: usize = 8 * PANEL;
/// Panels of rows that a task updates.
const PANELS: usize = 2;
/// Rows of two panels that are multiplied at a time: those of the right one stay in the first-level cache.
const DEPTH: usize = 128;

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
    let len = n.div_ceil(PANEL) * BLOCK.min(n.next_multiple_of(PANEL)) * PANEL_LANES;
    let (mut columns, mut products) = (vec![ZERO; len], vec![ZERO; len]);
    let mut inverse = Place::new(n, 0).inverse_of_diagonal(matrix);
    for block in 0..blocks {
        let place = Place::new(n, block);
        let Some(this) = inverse else {
            return Inversion::NotPositiveDefinite;
        };
        let len = n.div_ceil(PANEL) * place.panel();
        let (columns, products) = (&mut columns[..len], &mut products[..len]);
        place.copy_columns(matrix, columns);
        let panels = columns.par_chunks(place.panel()).zip(products.par_chunks_mut(place.panel()));
        panels.for_each(|(columns, products)| multiply_panel(&this, columns, products));
        inverse = place.subtract_products(matrix, products, columns);
        place.write_columns(matrix, products, &this);
        if !go_on(block + 1, blocks) {
            return Inversion::Stopped;
        }
    }
    mirror(matrix, n);
    Inversion::Done
}

/// A block on the diagonal of a matrix with n rows. The columns of the block, transposed, are packed into panels of its height,
/// rounded up to a multiple of [`PANEL`] with zeros.
#[derive(Clone, Copy)]
struct Place {
    n: usize,
    first: usize,
    size: usize,
}

impl Place {
    fn new(n: usize, block: usize) -> Self {
        let first = (block * BLOCK).min(n);
        Self { n, first, size: BLOCK.min(n - first) }
    }

    /// The block after this one; an empty one after the last.
    fn next(self) -> Self {
        Self::new(self.n, self.first / BLOCK + 1)
    }

    /// The height of the panels.
    fn height(self) -> usize {
        self.size.next_multiple_of(PANEL)
    }

    /// The lanes of a panel.
    fn panel(self) -> usize {
        self.height() * PANEL_LANES
    }

    /// Packs the block's columns of the whole matrix, with zeros in place of the block itself.
    fn copy_columns(self, matrix: &[f32], columns: &mut [Lane]) {
        let Self { n, first, size } = self;
        let end = first + size;
        columns.par_chunks_mut(self.panel()).enumerate().for_each(|(number, panel)| {
            panel.fill(ZERO);
            let panel: &mut [f32] = bytemuck::cast_slice_mut(panel);
            let rows = number * PANEL..((number + 1) * PANEL).min(n);
            let above = rows.start..rows.end.min(first);
            if !above.is_empty() {
                for (k, out) in panel.chunks_exact_mut(PANEL).enumerate().take(size) {
                    out[..above.len()].copy_from_slice(&matrix[(first + k) * n..][above.clone()]);
                }
            }
            for row in rows.start.max(end)..rows.end {
                let out = panel[row - rows.start..].iter_mut().step_by(PANEL);
                out.zip(&matrix[row * n..][first..end]).for_each(|(x, other)| *x = *other);
            }
        });
    }

    /// The inverse of the block, whose rows are given, factorised in double precision; padded with zeros to the height of the
    /// panels.
    fn inverse_of_diagonal(self, rows: &[f32]) -> Option<Vec<f32>> {
        let block = Mat::from_fn(self.size, self.size, |row, column| {
            let (row, column) = (row.max(column), row.min(column));
            f64::from(rows[row * self.n + self.first + column])
        });
        let inverse = Llt::new(block.as_ref(), Side::Lower).ok()?.inverse();
        let mut padded = vec![0.0; self.height() * self.height()];
        for (row, out) in padded.chunks_exact_mut(self.height().max(1)).enumerate().take(self.size) {
            (0..self.size).for_each(|column| out[column] = inverse[(row, column)] as f32);
        }
        padded.iter().all(|x| x.is_finite()).then_some(padded)
    }

    /// `matrix -= productsᵀ · columns`, the lower triangle. Returns the inverse of the next block on the diagonal: its rows come
    /// first, so that one thread inverts while the others go on.
    fn subtract_products(self, matrix: &mut [f32], products: &[Lane], columns: &[Lane]) -> Option<Vec<f32>> {
        let (above, rest) = matrix.split_at_mut(self.first * self.n);
        // The block's own rows are zero in both factors, and written afterwards.
        let below = &mut rest[self.size * self.n..];
        let (next, below) = below.split_at_mut(self.next().size * self.n);
        let (of_next, of_below) = (self.first + self.size, self.next().first + self.next().size);
        let tasks = |first: usize, rows: &mut [f32]| {
            let tasks = rows.par_chunks_mut(PANELS * PANEL * self.n).enumerate();
            // The last rows are the longest, so they come first.
            tasks.rev().with_max_len(1).for_each(|(task, rows)| {
                self.subtract_from_rows(first / PANEL + task * PANELS, rows, products, columns);
            });
        };
        tasks(of_next, next);
        let others = || rayon::join(|| tasks(of_below, below), || tasks(0, above));
        rayon::join(|| self.next().inverse_of_diagonal(next), others).0
    }

    /// [`Self::subtract_products`] for some panels of rows, from this one on.
    fn subtract_from_rows(self, first: usize, rows: &mut [f32], products: &[Lane], columns: &[Lane]) {
        let (n, panel) = (self.n, self.panel());
        let own = self.first / PANEL..(self.first + self.size).div_ceil(PANEL);
        let numbers = (0..(first + PANELS).min(n.div_ceil(PANEL))).filter(|number| !own.contains(number));
        for number in numbers {
            let (first_column, width) = (number * PANEL, PANEL.min(n - number * PANEL));
            let right = &columns[number * panel..][..panel];
            for (depth, right) in right.chunks(DEPTH * PANEL_LANES).enumerate() {
                let left = products[first * panel..].chunks_exact(panel);
                for (left, rows) in left.zip(rows.chunks_mut(PANEL * n)) {
                    let left = &left[depth * DEPTH * PANEL_LANES..][..right.len()];
                    let block = Block { elements: &mut rows[first_column..], stride: n, columns: width };
                    subtract_panel_product(left, right, block);
                }
            }
        }
    }

    /// Writes the block's columns: products, and the negative of the inverse on the diagonal.
    fn write_columns(self, matrix: &mut [f32], products: &[Lane], inverse: &[f32]) {
        let Self { n, first, size } = self;
        let products: &[f32] = bytemuck::cast_slice(products);
        let panel = self.panel() * LANES;
        let (above, below) = matrix.split_at_mut((first + size) * n);
        above[first * n..].par_chunks_exact_mut(n).enumerate().for_each(|(k, row)| {
            for (out, panel) in row[..first].chunks_mut(PANEL).zip(products.chunks_exact(panel)) {
                out.copy_from_slice(&panel[k * PANEL..][..out.len()]);
            }
            let inverse = &inverse[k * self.height()..][..size];
            row[first..].iter_mut().zip(inverse).for_each(|(x, inverse)| *x = -inverse);
        });
        below.par_chunks_exact_mut(n).enumerate().for_each(|(row, out)| {
            let row = first + size + row;
            let product = products[row / PANEL * panel + row % PANEL..].iter().step_by(PANEL);
            out[first..first + size].iter_mut().zip(product).for_each(|(x, product)| *x = *product);
        });
    }
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
