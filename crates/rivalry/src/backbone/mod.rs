//! Backbones: from the learned tables to the embeddings that are scored.
//!
//! A new backbone is one file with an [`Entry`], and one line in [`MODELS`](crate::models::MODELS).

mod contrast;
mod embeddings;
mod fism;
mod graph;
mod lightgcn;
mod lightgcn_pp;
mod mf;
mod popularity_prior;
mod propagation;
mod score;
#[cfg(test)]
mod tests;
mod unit;
mod users;
mod xsimgcl;

pub use self::embeddings::Embeddings;
pub(crate) use self::fism::FISM;
pub(crate) use self::lightgcn::LIGHTGCN;
pub(crate) use self::lightgcn_pp::LIGHTGCN_PP;
pub(crate) use self::mf::MF;
pub(crate) use self::popularity_prior::{POPULARITY_WEIGHT, popularity_prior};
pub use self::score::Score;
pub(crate) use self::score::{DIM, SCORE};
pub(crate) use self::unit::BLOCK;
pub use self::unit::Unit;
pub use self::users::Users;
pub(crate) use self::xsimgcl::XSIMGCL;
use crate::data::Interactions;
use crate::optim::Touched;
use crate::params::{self, Params};

/// A backbone on the list of models.
pub type Entry = params::Entry<Build>;

/// Builds a backbone.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// Builds it; it may look at the training set, and at nothing else of the data.
    pub backbone: fn(&Params, &Interactions) -> Box<dyn Backbone>,
    /// Tables of the size of the learned ones that it keeps, for the estimate of memory.
    pub extra_tables: u64,
    /// What the embeddings of its users are.
    pub users: fn(&Params) -> Users,
}

/// What a graph keeps: propagated tables, their gradients, two layers on the way.
const GRAPH_TABLES: u64 = 4;

/// A differentiable map from the learned tables to the scored ones.
pub trait Backbone: Send + Sync {
    /// Whether it is the identity: the learned tables are scored as they are. Then no other method is called.
    fn is_identity(&self) -> bool {
        false
    }

    /// The forward pass for an evaluation.
    fn forward(&mut self, learned: &Embeddings, scored: &mut Embeddings);

    /// The backward pass: turns gradients of the scored tables into gradients of the learned ones, in place. Gradients of
    /// the [auxiliary loss](Self::auxiliary_loss) are added.
    fn backward(&mut self, grads: &mut Embeddings);

    /// The forward pass for a training step. Rows that it doesn't read may be left as they are; no gradient will come for
    /// them.
    fn forward_training(&mut self, learned: &Embeddings, scored: &mut Embeddings, step: Step<'_>) {
        let _ = step;
        self.forward(learned, scored);
    }

    /// An auxiliary loss for a batch, on tables from [`forward_training`](Self::forward_training), to be added to that of
    /// the pairs. Its gradients are kept until [`backward`](Self::backward).
    fn auxiliary_loss(&mut self, scored: &Embeddings, users: &[u32], items: &[u32]) -> f64 {
        let _ = (scored, users, items);
        0.0
    }
}

/// What a backbone knows of a training step.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The rows that it reads; no others will have a gradient.
    pub touched: Touched<'a>,
    /// The seed of the backbone's randomness.
    pub seed: u64,
    /// Different for each step of a training.
    pub number: u64,
}

/// Matrix factorisation, which has no parameters and needs no training set.
pub(crate) fn plain() -> Box<dyn Backbone> {
    Box::new(mf::Mf)
}
