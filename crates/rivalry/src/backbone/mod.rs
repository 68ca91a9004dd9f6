//! Backbones: from the learned tables to the embeddings that are scored.
//!
//! A new backbone is one file with an [`Entry`], and one line in [`BACKBONES`].

mod contrast;
mod embeddings;
mod graph;
mod lightgcn;
mod lightgcn_pp;
mod mf;
mod propagation;
#[cfg(test)]
mod tests;
mod unit;
mod xsimgcl;

pub use self::embeddings::Embeddings;
pub(crate) use self::unit::{BLOCK, Unit};
use crate::Result;
use crate::config::{self, Params};
use crate::data::Interactions;

/// All backbones, in the order they are listed to the user.
pub static BACKBONES: &[Entry] = &[mf::MF, lightgcn::LIGHTGCN, lightgcn_pp::LIGHTGCN_PP, xsimgcl::XSIMGCL];

/// A backbone on the list; it may look at the training set, and at nothing else of the data.
pub type Entry = config::Entry<fn(&Params, &Interactions) -> Box<dyn Backbone>>;

/// A differentiable map from the learned tables to the scored ones.
pub trait Backbone: Send + Sync {
    /// Whether the scored tables are the learned ones. Then no other method is called.
    fn is_identity(&self) -> bool {
        false
    }

    /// Fills in the scored tables as they are evaluated.
    fn forward(&mut self, learned: &Embeddings, scored: &mut Embeddings);

    /// Turns gradients of the scored tables into gradients of the learned ones, in place: the adjoint of the last
    /// forward map. Gradients of an [own loss](Self::own_loss) taken since then are added.
    fn backward(&mut self, grads: &mut Embeddings);

    /// Whether a training step gets tables of its own, other than those of the evaluation or less than these.
    /// If not, the methods below are not called.
    fn trains_differently(&self) -> bool {
        false
    }

    /// Fills in the scored tables as a training step is to see them. Rows of users who are not in its batch may be
    /// left as they are; no gradient will come for them.
    fn forward_training(&mut self, learned: &Embeddings, scored: &mut Embeddings, step: Step<'_>) {
        let _ = step;
        self.forward(learned, scored);
    }

    /// A loss of the backbone's own for a batch, on tables from [`forward_training`](Self::forward_training), to be
    /// added to what the pairs cost. Its gradients stay here until
    /// [`backward`](Self::backward).
    fn own_loss(&mut self, scored: &Embeddings, users: &[u32], items: &[u32]) -> f64 {
        let _ = (scored, users, items);
        0.0
    }
}

/// What a backbone may know of a training step.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The users of the batch, in any order.
    pub users: &'a [u32],
    /// Where the backbone's own randomness starts from.
    pub seed: u64,
    /// Different for each step of a training.
    pub number: u64,
}

impl Step<'_> {
    /// The users, ascending and each once.
    fn distinct_users(&self) -> Vec<u32> {
        let mut users = self.users.to_vec();
        users.sort_unstable();
        users.dedup();
        users
    }
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
