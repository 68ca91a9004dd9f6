//! Embeddings of length one, and the way back through the normalisation.

use rayon::prelude::*;
use rivalry_kernels::{Matrix, normalise, normalise_backward};

use super::Embeddings;

/// Rows a task works on at a time: few enough to stay in the first-level cache through all it does to them.
pub(crate) const BLOCK: usize = 32;

/// Embeddings of length one, and one over the lengths they had.
#[derive(Default)]
pub struct Unit {
    /// The rows at length one.
    pub embeddings: Embeddings,
    /// One over the lengths of the users and of the items.
    pub(crate) inverse_lengths: [Vec<f32>; 2],
}

impl Unit {
    /// Room for tables of that size.
    pub(crate) fn like(tables: &Embeddings) -> Self {
        let mut embeddings = Embeddings::default();
        embeddings.resize_like(tables);
        let inverse_lengths = [vec![0.0; tables.users.rows()], vec![0.0; tables.items.rows()]];
        Self { embeddings, inverse_lengths }
    }

    /// Makes room for so many rows of each table, to be filled in row by row. Without lengths, rows keep theirs.
    pub(crate) fn resize(&mut self, [users, items]: [usize; 2], dim: usize, with_lengths: bool) {
        self.embeddings.users.resize(users, dim);
        self.embeddings.items.resize(items, dim);
        for (lengths, rows) in self.inverse_lengths.iter_mut().zip([users, items]) {
            lengths.resize(if with_lengths { rows } else { 0 }, 0.0);
        }
    }

    /// Takes in these rows, scaled to length one.
    pub(crate) fn set(&mut self, source: &Embeddings) {
        let [user_lengths, item_lengths] = &mut self.inverse_lengths;
        forward(&source.users, &mut self.embeddings.users, user_lengths);
        forward(&source.items, &mut self.embeddings.items, item_lengths);
    }

    /// Turns gradients of the unit rows into gradients of the rows they were made of.
    pub(crate) fn backward(&self, grads: &mut Embeddings) {
        let [user_lengths, item_lengths] = &self.inverse_lengths;
        backward(&self.embeddings.users, user_lengths, &mut grads.users);
        backward(&self.embeddings.items, item_lengths, &mut grads.items);
    }
}

fn forward(rows: &Matrix, unit: &mut Matrix, inverse_lengths: &mut [f32]) {
    let lanes = rows.lanes();
    let blocks = rows.as_lanes().par_chunks(BLOCK * lanes);
    blocks
        .zip(unit.as_lanes_mut().par_chunks_mut(BLOCK * lanes))
        .zip(inverse_lengths.par_chunks_mut(BLOCK))
        .for_each(|((rows, unit), lengths)| normalise(rows, lanes, unit, lengths));
}

fn backward(unit: &Matrix, inverse_lengths: &[f32], grads: &mut Matrix) {
    let lanes = unit.lanes();
    let blocks = unit.as_lanes().par_chunks(BLOCK * lanes);
    blocks
        .zip(grads.as_lanes_mut().par_chunks_mut(BLOCK * lanes))
        .zip(inverse_lengths.par_chunks(BLOCK))
        .for_each(|((unit, grads), lengths)| normalise_backward(unit, lanes, lengths, grads));
}
