//! The two tables everything works on.

use rayon::prelude::*;
use rivalry_kernels::{Matrix, add_weighted_rows};

use super::BLOCK;

/// A table of users and one of items.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embeddings {
    /// One row a user.
    pub users: Matrix,
    /// One row an item.
    pub items: Matrix,
}

impl Embeddings {
    /// Tables of zeros.
    pub fn zeros(n_users: usize, n_items: usize, dim: usize) -> Self {
        Self { users: Matrix::zeros(n_users, dim), items: Matrix::zeros(n_items, dim) }
    }

    /// The length of an embedding.
    pub fn dim(&self) -> usize {
        self.items.cols()
    }

    /// Both tables, users first.
    pub fn tables(&self) -> [&Matrix; 2] {
        [&self.users, &self.items]
    }

    /// Both tables, users first.
    pub fn tables_mut(&mut self) -> [&mut Matrix; 2] {
        [&mut self.users, &mut self.items]
    }

    /// Takes the size of the other tables; what is in these is lost if that is another size.
    pub(crate) fn resize_like(&mut self, other: &Self) {
        for (table, other) in self.tables_mut().into_iter().zip(other.tables()) {
            table.resize(other.rows(), other.cols());
        }
    }

    /// Copies tables of the same size.
    pub(super) fn copy_from(&mut self, other: &Self) {
        for (table, other) in self.tables_mut().into_iter().zip(other.tables()) {
            table.as_lanes_mut().copy_from_slice(other.as_lanes());
        }
    }

    /// Adds `weight` times tables of the same size.
    pub(super) fn add(&mut self, other: &Self, weight: f32) {
        for (table, other) in self.tables_mut().into_iter().zip(other.tables()) {
            let block = BLOCK * table.lanes();
            let blocks = table.as_lanes_mut().par_chunks_mut(block).zip(other.as_lanes().par_chunks(block));
            // To the kernel a block is one long row.
            blocks.for_each(|(block, other)| add_weighted_rows(other, &[0], &[weight], block));
        }
    }
}
