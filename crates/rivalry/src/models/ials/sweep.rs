//! Half a sweep: all rows of one table are solved for, the other table is given.
//!
//! A row w with the rows `h_i` of its interactions minimises `Σ_i (w·h_i - 1)² + α Σ_j (w·h_j)² + λ‖w‖²`, where j are all rows.
//! Both tables are first brought into coordinates in which `M = α Σ_j h_j h_jᵀ + λI` is diagonal ([`Basis`]): a rotation, which
//! changes no score.
//!
//! A row with few interactions is solved for exactly, with one equation for each interaction instead of one for each dimension: with the
//! rows `r_i = M^-½ h_i` of a matrix R, `w = M^-½ Rᵀ (I + R Rᵀ)⁻¹ 1`. A row with many is improved by iALS++: for a block of
//! dimensions, one Newton step from the present row solves for its elements there. With all dimensions in one block this is the
//! exact solution, too.
//!
//! Rows are independent of each other: processes solve for a part of them each, threads for blocks of those.

use std::ops::Range;

use rayon::prelude::*;
use rivalry_kernels::{
    LANES, Lane, ZERO, add_gram, add_weighted_rows, dots, gather_rows, gather_scaled_rows, pairwise_dots,
    prefetch, solve_normal_equations,
};

use super::basis::Basis;
use super::{Norms, Penalty};
use crate::Matrix;
use crate::data::Interactions;

/// Rows that a task solves for.
const ROWS: usize = 32;
/// The most interactions of a row that is solved for with an equation for each, where the dimensions are not fewer: with
/// more, blocks of dimensions are cheaper.
const FEW: usize = 64;

/// Rows of the other table that are prefetched for the next row: few enough to stay in the first-level cache.
const PREFETCHED: usize = 12;

/// Half a sweep.
pub(super) struct HalfSweep {
    pub penalty: Penalty,
    /// Lanes of a block of dimensions.
    pub block_lanes: usize,
}

impl HalfSweep {
    /// Whether a row with this number of interactions is solved for exactly, whatever it was before.
    pub fn is_exact(interactions: usize, dim: usize) -> bool {
        interactions <= FEW.min(dim)
    }

    /// Solves for a part of the rows of a table, given those of the other; these and the other table are in other coordinates
    /// afterwards. `false` if numbers overflowed.
    pub fn run(
        &self,
        table: &mut Matrix,
        part: Range<usize>,
        others: &mut Matrix,
        rows: &Interactions,
    ) -> bool {
        let (lanes, norms) = (table.lanes(), Norms::new(self.penalty, rows));
        let Some(basis) = Basis::new(others, self.penalty.unobserved) else { return false };
        basis.rotate(others);
        let roots = (0..=FEW.min(table.cols())).map(|n| inverse_roots(&basis, norms.of_row(n))).collect();
        let given = Given { others, basis, roots, block_lanes: self.block_lanes };
        let part_lanes = &mut table.as_lanes_mut()[part.start * lanes..part.end * lanes];
        let tasks = part_lanes.par_chunks_mut(ROWS * lanes).enumerate();
        let solved = tasks.map_init(Scratch::default, |scratch: &mut Scratch<'_>, (task, table)| {
            (part.start + task * ROWS..).zip(table.chunks_exact_mut(lanes)).all(|(number, row)| {
                let ids = rows.items_of(number as u32);
                let norm = norms.of_row(ids.len());
                scratch.next = if number + 1 < part.end { rows.items_of(number as u32 + 1) } else { &[] };
                norm.is_finite()
                    && match given.roots.get(ids.len()) {
                        Some(root) => scratch.solve_exactly(row, ids, root, &given),
                        None => scratch.improve(row, ids, norm, &given),
                    }
                    && row.iter().all(|lane| lane.0.iter().all(|x| x.is_finite()))
            })
        });
        solved.reduce(|| true, |a, b| a && b)
    }
}

/// What all rows have in common.
struct Given<'a> {
    others: &'a Matrix,
    basis: Basis,
    /// The diagonal of `M^-½` for each number of interactions that counts as few.
    roots: Vec<Vec<Lane>>,
    block_lanes: usize,
}

/// The diagonal of `M^-½`; zero where M is, which is where all rows are zero.
fn inverse_roots(basis: &Basis, norm: f32) -> Vec<Lane> {
    let root = |x: f32| if x + norm > 0.0 { (x + norm).sqrt().recip() } else { 0.0 };
    basis.diagonal.iter().map(|lane| Lane(lane.0.map(root))).collect()
}

/// The memory that a row is solved for in.
#[derive(Default)]
struct Scratch<'a> {
    /// The interactions of the row that comes after this one.
    next: &'a [u32],
    gathered: Vec<Lane>,
    /// A block of columns of the gathered rows.
    block: Vec<Lane>,
    matrix: Vec<Lane>,
    solution: Vec<Lane>,
    predictions: Vec<f32>,
    weights: Vec<f32>,
    /// 0, 1, 2, …
    places: Vec<u32>,
}

impl Scratch<'_> {
    /// Prefetches what the next row gathers first, so that it arrives while this one is solved for.
    fn prefetch_next(&self, given: &Given<'_>) {
        self.next.iter().take(PREFETCHED).for_each(|&id| prefetch(given.others.row_lanes(id as usize)));
    }

    /// Solves for a row with an equation for each interaction.
    fn solve_exactly(&mut self, row: &mut [Lane], ids: &[u32], root: &[Lane], given: &Given<'_>) -> bool {
        let (n, lanes) = (ids.len(), row.len());
        row.fill(ZERO);
        if n == 0 {
            return true;
        }
        self.gathered.resize(n * lanes, ZERO);
        gather_scaled_rows(given.others.as_lanes(), ids, root, &mut self.gathered);
        self.prefetch_next(given);
        // The upper triangle of I + R Rᵀ, with rows and columns of the identity up to a whole lane.
        let width = n.div_ceil(LANES);
        self.matrix.clear();
        self.matrix.resize(LANES * width * width, ZERO);
        pairwise_dots(&self.gathered, lanes, &mut self.matrix, width);
        (0..LANES * width).for_each(|k| self.matrix[k * width + k / LANES].0[k % LANES] += 1.0);
        self.solution.clear();
        self.solution.resize(width, ZERO);
        let solution: &mut [f32] = bytemuck::cast_slice_mut(&mut self.solution);
        solution[..n].fill(1.0);
        if !solve_normal_equations(&mut self.matrix, width, &mut self.solution) {
            return false;
        }
        self.places.extend(self.places.len() as u32..n as u32);
        let solution: &[f32] = bytemuck::cast_slice(&self.solution);
        add_weighted_rows(&self.gathered, &self.places[..n], solution, row);
        for (x, root) in row.iter_mut().zip(root) {
            x.0.iter_mut().zip(root.0).for_each(|(x, root)| *x *= root);
        }
        true
    }

    /// Improves a row by one Newton step for each block of dimensions.
    fn improve(&mut self, row: &mut [Lane], ids: &[u32], norm: f32, given: &Given<'_>) -> bool {
        let (n, lanes) = (ids.len(), row.len());
        given.basis.rotate_rows(row);
        self.gathered.resize(n * lanes, ZERO);
        gather_rows(given.others.as_lanes(), ids, &mut self.gathered);
        self.prefetch_next(given);
        self.places.extend(self.places.len() as u32..n as u32);
        self.predictions.resize(n, 0.0);
        self.weights.resize(n, 0.0);
        dots(row, &self.gathered, &self.places[..n], &mut self.predictions[..n]);
        (0..lanes).step_by(given.block_lanes).all(|first| {
            let end = (first + given.block_lanes).min(lanes);
            self.step(&mut row[first..end], first, n, norm, &given.basis.diagonal[first..end])
        })
    }

    /// One Newton step for the elements of a row from a lane on, given the diagonal of the unobserved there.
    fn step(&mut self, row: &mut [Lane], first: usize, n: usize, norm: f32, diagonal: &[Lane]) -> bool {
        let lanes = row.len();
        self.block.clear();
        for gathered in self.gathered.chunks_exact(self.gathered.len() / n) {
            self.block.extend_from_slice(&gathered[first..][..lanes]);
        }
        self.matrix.clear();
        self.matrix.resize(LANES * lanes * lanes, ZERO);
        self.solution.clear();
        for (lane, (x, diagonal)) in row.iter().zip(diagonal).enumerate() {
            for k in 0..LANES {
                self.matrix[(lane * LANES + k) * lanes + lane].0[k] = diagonal.0[k] + norm;
            }
            self.solution.push(Lane(std::array::from_fn(|k| -(diagonal.0[k] + norm) * x.0[k])));
        }
        let (places, predictions) = (&self.places[..n], &mut self.predictions[..n]);
        let weights = &mut self.weights[..n];
        weights.iter_mut().zip(&*predictions).for_each(|(weight, prediction)| *weight = 1.0 - prediction);
        add_weighted_rows(&self.block, places, weights, &mut self.solution);
        add_gram(&self.block, lanes, &mut self.matrix);
        if !solve_normal_equations(&mut self.matrix, lanes, &mut self.solution) {
            return false;
        }
        for (x, step) in row.iter_mut().zip(&self.solution) {
            x.0.iter_mut().zip(step.0).for_each(|(x, step)| *x += step);
        }
        dots(&self.solution, &self.block, places, weights);
        predictions.iter_mut().zip(weights).for_each(|(sum, x)| *sum += *x);
        true
    }
}
