//! The Gram matrix of a table, and the normal equations of new users.

use rayon::prelude::*;
use rivalry_kernels::{LANES, Lane, ZERO, add_gram, add_weighted_rows, solve_normal_equations};

use super::Norms;
use crate::Matrix;
use crate::data::Interactions;

/// Rows whose outer products a task adds up.
const ROWS: usize = 1024;

/// `weight · tableᵀ · table`, the upper triangle. Partial sums of a fixed number of rows are added up in order.
pub(super) fn gram(table: &Matrix, weight: f64) -> Vec<Lane> {
    let lanes = table.lanes();
    let parts: Vec<Vec<Lane>> = table
        .as_lanes()
        .par_chunks(ROWS * lanes)
        .map(|rows| {
            let mut part = vec![ZERO; LANES * lanes * lanes];
            add_gram(rows, lanes, &mut part);
            part
        })
        .collect();
    let mut gram = vec![ZERO; LANES * lanes * lanes];
    gram.par_iter_mut().enumerate().for_each(|(at, sum)| {
        let mut exact = [0.0; LANES];
        for part in &parts {
            exact.iter_mut().zip(part[at].0).for_each(|(sum, x)| *sum += f64::from(x));
        }
        sum.0 = exact.map(|x| (weight * x) as f32);
    });
    gram
}

/// The normal equations of new users: what they have in common.
pub(super) struct Normal {
    gram: Vec<Lane>,
    norms: Norms,
}

impl Normal {
    /// The equations for these item factors.
    pub fn new(items: &Matrix, unobserved: f64, norms: Norms) -> Self {
        Self { gram: gram(items, unobserved), norms }
    }

    /// One row per user: the exact solution for the user's items. A system that has no solution, which a finite model
    /// does not have, gives zeros.
    pub fn solve(&self, items: &Matrix, histories: &Interactions) -> Matrix {
        let lanes = items.lanes();
        let mut users = Matrix::zeros(histories.n_users(), items.cols());
        users.as_lanes_mut().par_chunks_mut(lanes).enumerate().for_each(|(user, row)| {
            let ids = histories.items_of(user as u32);
            let mut matrix = self.gram.clone();
            let norm = self.norms.of_row(ids.len());
            for k in 0..LANES * lanes {
                matrix[k * lanes + k / LANES].0[k % LANES] += norm;
            }
            let gathered = items.gather(ids);
            add_gram(gathered.as_lanes(), lanes, &mut matrix);
            add_weighted_rows(items.as_lanes(), ids, &vec![1.0; ids.len()], row);
            if !solve_normal_equations(&mut matrix, lanes, row) {
                row.fill(ZERO);
            }
        });
        users
    }
}
