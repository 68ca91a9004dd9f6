//! Half a sweep of iALS++: all rows of one table are improved, the other table is given.
//!
//! Rows are independent of each other, so they are cut into blocks of a fixed number for the threads. For a block of
//! dimensions, the loss is a quadratic function of a row's elements there: one Newton step from the present row solves for
//! them, and what the row predicts for its training pairs is kept up to date. With all dimensions in one block this is
//! the exact solution. Blocks of the other table are copied together, so that gathered rows come from the cache.

use rayon::prelude::*;
use rivalry_kernels::{
    LANES, Lane, ZERO, add_gram, add_weighted_rows, add_weighted_sums, add_weighted_sums_transposed, dots,
    gather_weighted_rows, solve_normal_equations,
};

use super::{Norms, Penalty};
use crate::Matrix;
use crate::data::Interactions;

/// Rows that a task solves for; six at a time are multiplied by a Gram matrix.
const ROWS: usize = 48;
/// Rows whose outer products a task adds up.
const GRAM_ROWS: usize = 1024;

/// Half a sweep.
pub(super) struct HalfSweep {
    pub penalty: Penalty,
    /// Lanes of a block of dimensions.
    pub block_lanes: usize,
}

impl HalfSweep {
    /// Improves all rows of a table, given those of the other. `false` if a system has no solution, because numbers
    /// overflowed.
    pub fn run(&self, table: &mut Matrix, others: &Matrix, rows: &Interactions) -> bool {
        let (lanes, norms) = (table.lanes(), Norms::new(self.penalty, rows));
        let mut predictions = vec![0.0; rows.len()];
        let blocks: Vec<_> = (0..lanes)
            .step_by(self.block_lanes)
            .map(|first| {
                Block::new(others, first..(first + self.block_lanes).min(lanes), self.penalty.unobserved)
            })
            .collect();
        for block in &blocks {
            for_each_task(table, rows, &mut predictions, |task| task.predict(block));
        }
        blocks.iter().all(|block| {
            let solved = for_each_task(table, rows, &mut predictions, |mut task| task.solve(block, norms));
            solved.into_iter().all(|solved| solved)
        })
    }
}

/// A block of dimensions of the table that is given.
struct Block {
    first: usize,
    lanes: usize,
    /// Its columns of the table.
    table: Vec<Lane>,
    /// The Gram matrix of the whole table times the weight of what is not observed: the block's columns of it.
    gram: Vec<Lane>,
}

impl Block {
    fn new(others: &Matrix, range: std::ops::Range<usize>, unobserved: f64) -> Self {
        let lanes = range.len();
        let mut table = vec![ZERO; others.rows() * lanes];
        table.par_chunks_mut(lanes * GRAM_ROWS).enumerate().for_each(|(chunk, out)| {
            for (n, out) in out.chunks_exact_mut(lanes).enumerate() {
                out.copy_from_slice(&others.row_lanes(chunk * GRAM_ROWS + n)[range.clone()]);
            }
        });
        let gram = gram(others, &table, lanes, unobserved);
        Self { first: range.start, lanes, table, gram }
    }
}

/// `weight · tableᵀ · block`, where `block` holds some columns of the table. Partial sums of a fixed number of rows are
/// added up in order.
fn gram(table: &Matrix, block: &[Lane], lanes: usize, weight: f64) -> Vec<Lane> {
    let width = table.lanes() * LANES;
    let parts: Vec<Vec<Lane>> = table
        .as_lanes()
        .par_chunks(GRAM_ROWS * table.lanes())
        .zip(block.par_chunks(GRAM_ROWS * lanes))
        .map(|(rows, block)| {
            let mut part = vec![ZERO; width * lanes];
            add_weighted_sums_transposed(bytemuck::cast_slice(rows), width, block, lanes, &mut part);
            part
        })
        .collect();
    let mut gram = vec![ZERO; width * lanes];
    gram.par_iter_mut().enumerate().for_each(|(at, sum)| {
        let mut exact = [0.0; LANES];
        for part in &parts {
            exact.iter_mut().zip(part[at].0).for_each(|(sum, x)| *sum += f64::from(x));
        }
        sum.0 = exact.map(|x| (weight * x) as f32);
    });
    gram
}

/// Some rows of the table that is improved.
struct Task<'a> {
    first: usize,
    lanes: usize,
    rows: &'a Interactions,
    table: &'a mut [Lane],
    /// The dot products for the training pairs of the rows.
    predictions: &'a mut [f32],
}

/// Runs a function on fixed blocks of rows, on all threads.
fn for_each_task<T: Send>(
    table: &mut Matrix,
    rows: &Interactions,
    mut predictions: &mut [f32],
    run: impl Fn(Task<'_>) -> T + Sync + Send,
) -> Vec<T> {
    let lanes = table.lanes();
    let mut tasks = Vec::new();
    for (n, table) in table.as_lanes_mut().chunks_mut(ROWS * lanes).enumerate() {
        let first = n * ROWS;
        let pairs = (first..first + table.len() / lanes).map(|row| rows.items_of(row as u32).len()).sum();
        let (own, rest) = predictions.split_at_mut(pairs);
        predictions = rest;
        tasks.push(Task { first, lanes, rows, table, predictions: own });
    }
    tasks.into_par_iter().map(run).collect()
}

impl Task<'_> {
    /// Adds the block's part of the dot products.
    fn predict(self, block: &Block) {
        let mut predictions = self.predictions;
        let mut part = Vec::new();
        for (n, row) in self.table.chunks_exact(self.lanes).enumerate() {
            let ids = self.rows.items_of((self.first + n) as u32);
            let own = predictions.split_off_mut(..ids.len()).expect("one for each pair");
            add_dots(&row[block.first..][..block.lanes], block, ids, own, &mut part);
        }
    }

    /// Solves for the block's dimensions. `false` if a system has no solution.
    fn solve(&mut self, block: &Block, norms: Norms) -> bool {
        let lanes = block.lanes;
        let n_rows = self.table.len() / self.lanes;
        // The gradient of what is not observed.
        let mut unobserved = vec![ZERO; n_rows * lanes];
        let flat: &[f32] = bytemuck::cast_slice(self.table);
        add_weighted_sums(flat, self.lanes * LANES, &block.gram, lanes, &mut unobserved);
        let mut scratch = Scratch::default();
        let mut at = 0;
        for (n, row) in self.table.chunks_exact_mut(self.lanes).enumerate() {
            let ids = self.rows.items_of((self.first + n) as u32);
            let predictions = &mut self.predictions[at..at + ids.len()];
            at += ids.len();
            let norm = norms.of_row(ids.len());
            let row = &mut row[block.first..][..lanes];
            let gradient = &unobserved[n * lanes..][..lanes];
            if !scratch.step(row, block, (ids, predictions), gradient, norm) {
                return false;
            }
        }
        true
    }
}

/// The memory of one Newton step.
#[derive(Default)]
struct Scratch {
    gathered: Vec<Lane>,
    matrix: Vec<Lane>,
    step: Vec<Lane>,
    weights: Vec<f32>,
    /// 0, 1, 2, …
    places: Vec<u32>,
}

impl Scratch {
    /// One Newton step for the elements of a row in a block of dimensions.
    fn step(
        &mut self,
        row: &mut [Lane],
        block: &Block,
        (ids, predictions): (&[u32], &mut [f32]),
        unobserved: &[Lane],
        norm: f32,
    ) -> bool {
        let lanes = block.lanes;
        self.matrix.clear();
        self.matrix.extend_from_slice(&block.gram[block.first * LANES * lanes..][..LANES * lanes * lanes]);
        for k in 0..LANES * lanes {
            self.matrix[k * lanes + k / LANES].0[k % LANES] += norm;
        }
        self.step.clear();
        for (x, gradient) in row.iter().zip(unobserved) {
            self.step.push(Lane(std::array::from_fn(|l| -gradient.0[l] - norm * x.0[l])));
        }
        self.weights.clear();
        self.weights.extend(predictions.iter().map(|prediction| 1.0 - prediction));
        self.gathered.resize(ids.len() * lanes, ZERO);
        gather_weighted_rows(&block.table, ids, &self.weights, &mut self.gathered, &mut self.step);
        add_gram(&self.gathered, lanes, &mut self.matrix);
        if !solve_normal_equations(&mut self.matrix, lanes, &mut self.step) {
            return false;
        }
        for (x, step) in row.iter_mut().zip(&self.step) {
            x.0.iter_mut().zip(step.0).for_each(|(x, step)| *x += step);
        }
        // Of the gathered rows, which are in the first-level cache.
        self.places.extend(self.places.len() as u32..ids.len() as u32);
        dots(&self.step, &self.gathered, &self.places[..ids.len()], &mut self.weights);
        predictions.iter_mut().zip(&self.weights).for_each(|(sum, x)| *sum += x);
        true
    }
}

/// `out[n] += query · block[ids[n]]`.
fn add_dots(query: &[Lane], block: &Block, ids: &[u32], out: &mut [f32], scratch: &mut Vec<f32>) {
    scratch.resize(ids.len(), 0.0);
    dots(query, &block.table, ids, scratch);
    out.iter_mut().zip(scratch).for_each(|(sum, x)| *sum += *x);
}

/// The normal equations of new users: what they have in common.
pub(super) struct Normal {
    gram: Vec<Lane>,
    norms: Norms,
}

impl Normal {
    /// The equations for these item factors.
    pub fn new(items: &Matrix, unobserved: f64, norms: Norms) -> Self {
        Self { gram: gram(items, items.as_lanes(), items.lanes(), unobserved), norms }
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
