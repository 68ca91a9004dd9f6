//! The eigenvectors of a table's Gram matrix as coordinates. There, what is not observed weighs each dimension on its own.

use faer::{Mat, Side};
use rayon::prelude::*;
use rivalry_kernels::{LANES, Lane, ZERO, dots_packed};

use super::gram::gram;
use crate::Matrix;

/// Rows that a task rotates.
const ROWS: usize = 96;

/// Coordinates in which `weight · tableᵀ · table` is diagonal.
pub(super) struct Basis {
    /// The eigenvectors, packed into panels: products with them are a row in the new coordinates.
    eigenvectors: Vec<Lane>,
    /// The diagonal: the eigenvalues times the weight.
    pub diagonal: Vec<Lane>,
    lanes: usize,
}

impl Basis {
    /// The basis of a table; `None` if its Gram matrix is not finite.
    pub fn new(table: &Matrix, weight: f64) -> Option<Self> {
        let (lanes, cols) = (table.lanes(), table.cols());
        let gram = gram(table, weight);
        let at = |row: usize, column: usize| {
            let (row, column) = (row.min(column), row.max(column));
            f64::from(gram[row * lanes + column / LANES].0[column % LANES])
        };
        let matrix = Mat::from_fn(cols, cols, at);
        if !(0..cols).all(|row| (0..cols).all(|column| matrix[(row, column)].is_finite())) {
            return None;
        }
        let eigen = matrix.self_adjoint_eigen(Side::Lower).ok()?;
        let (mut eigenvectors, mut diagonal) = (vec![ZERO; LANES * lanes * lanes], vec![ZERO; lanes]);
        for column in 0..cols {
            diagonal[column / LANES].0[column % LANES] = eigen.S()[column].max(0.0) as f32;
            for row in 0..cols {
                let lane = &mut eigenvectors[column / LANES * LANES * lanes + row];
                lane.0[column % LANES] = eigen.U()[(row, column)] as f32;
            }
        }
        let finite = diagonal.iter().chain(&eigenvectors).all(|lane| lane.0.iter().all(|x| x.is_finite()));
        finite.then_some(Self { eigenvectors, diagonal, lanes })
    }

    /// Brings the rows of a table into the new coordinates.
    pub fn rotate(&self, table: &mut Matrix) {
        table.as_lanes_mut().par_chunks_mut(ROWS * self.lanes).for_each(|rows| self.rotate_rows(rows));
    }

    /// Brings rows into the new coordinates.
    pub fn rotate_rows(&self, rows: &mut [Lane]) {
        let before = rows.to_vec();
        dots_packed(&before, self.lanes, &self.eigenvectors, rows, self.lanes);
    }
}
