//! Backbones: from the learned tables to the embeddings that are scored.
//!
//! A new backbone is one file with an [`Entry`], and one line in [`BACKBONES`].

mod mf;

use rivalry_kernels::Matrix;

use crate::Result;
use crate::config::{self, Params};
use crate::data::Interactions;

/// All backbones, in the order they are listed to the user.
pub static BACKBONES: &[Entry] = &[mf::MF];

/// A backbone on the list; it may look at the training set, and at nothing else of the data.
pub type Entry = config::Entry<fn(&Params, &Interactions) -> Box<dyn Backbone>>;

/// A table of users and one of items.
#[derive(Clone, Debug, PartialEq)]
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
    pub fn tables_mut(&mut self) -> [&mut Matrix; 2] {
        [&mut self.users, &mut self.items]
    }
}

/// A differentiable map from the learned tables to the scored ones.
pub trait Backbone: Send + Sync {
    /// Whether the scored tables are the learned ones. Then the other two methods are not called.
    fn is_identity(&self) -> bool {
        false
    }

    /// Fills in the scored tables.
    fn forward(&self, learned: &Embeddings, scored: &mut Embeddings);

    /// Turns gradients of the scored tables into gradients of the learned ones, in place.
    fn backward(&self, grads: &mut Embeddings);
}

/// Matrix factorisation, which needs to know nothing.
pub fn plain() -> Box<dyn Backbone> {
    Box::new(mf::Mf)
}

/// The backbone a config section asks for.
pub fn build(section: &toml::Table, train: &Interactions) -> Result<Box<dyn Backbone>> {
    let (entry, params) = config::choose("backbone", BACKBONES, section)?;
    Ok((entry.build)(&params, train))
}
