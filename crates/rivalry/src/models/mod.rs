//! The models: backbones trained by sampled gradients, and closed forms.
//!
//! A new model is one file and one line in [`MODELS`]: a backbone in `backbone/`, a closed form here.

mod closed_form;
mod ease;
mod fs_slim;
mod ials;
mod item_knn;
mod neighbours;
mod popularity;
mod rp3beta;
#[cfg(test)]
mod tests;
mod turbo_cf;

pub use closed_form::{ClosedForm, FitContext};
pub use ials::als_tables;

use crate::backbone::{self, Backbone, DIM, POPULARITY_WEIGHT, SCORE, Score, Users};
use crate::data::Interactions;
use crate::params::{self, Choice, Params, Value};

/// All models, in the order they are listed to the user.
pub static MODELS: &[Entry] = &[
    gradient(backbone::MF),
    gradient(backbone::LIGHTGCN),
    gradient(backbone::LIGHTGCN_PP),
    gradient(backbone::XSIMGCL),
    gradient(backbone::FISM),
    popularity::POPULARITY,
    ials::IALS,
    ease::EASE,
    fs_slim::FS_SLIM,
    item_knn::ITEM_KNN,
    rp3beta::RP3BETA,
    turbo_cf::TURBO_CF,
];

/// A model on the list.
pub type Entry = params::Entry<Kind>;

/// A chosen model with its parameters: `[model]` of a config.
pub type ModelConfig = Choice<Kind>;

/// How a model gets its parameters.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Embeddings behind a backbone, trained by sampled gradients.
    Gradient(backbone::Build),
    /// Computed from the training set in one go.
    ClosedForm(fn(&Params) -> Box<dyn ClosedForm>),
}

/// A backbone as a model.
const fn gradient(backbone: backbone::Entry) -> Entry {
    let backbone::Entry { name, summary, params, build } = backbone;
    Entry { name, summary, params, build: Kind::Gradient(build) }
}

impl ModelConfig {
    /// Whether the model is trained by sampled gradients.
    pub fn is_gradient(&self) -> bool {
        matches!(self.entry().build, Kind::Gradient(_))
    }

    /// Whether the seed makes a difference.
    pub fn uses_seed(&self) -> bool {
        match self.entry().build {
            Kind::Gradient(_) => true,
            Kind::ClosedForm(build) => build(self.params()).uses_seed(),
        }
    }

    /// How its embeddings make a score, if it is trained by sampled gradients.
    pub fn score(&self) -> Option<Score> {
        self.is_gradient().then(|| Score::named(self.params().choice(SCORE.name)))
    }

    /// The embedding dimension, if it is trained by sampled gradients.
    pub fn dim(&self) -> Option<usize> {
        self.is_gradient().then(|| self.params().count(DIM.name))
    }

    /// What is added to the score of each item for its popularity in the training set, if anything.
    pub fn popularity_prior(&self, train: &Interactions) -> Option<Vec<f32>> {
        let weight = match self.params().get(POPULARITY_WEIGHT.name) {
            Some(Value::Number(weight)) if weight > 0.0 => weight,
            _ => return None,
        };
        Some(backbone::popularity_prior(train, weight))
    }

    /// What the embeddings of its users are; a table where it is not trained by sampled gradients.
    pub fn users(&self) -> Users {
        match self.entry().build {
            Kind::Gradient(build) => (build.users)(self.params()),
            Kind::ClosedForm(_) => Users::Table,
        }
    }

    /// Whether it propagates embeddings along a graph.
    pub fn uses_graph(&self) -> bool {
        matches!(self.entry().build, Kind::Gradient(build) if build.extra_tables > 0)
    }

    /// The backbone over this training set, if it is trained by sampled gradients.
    pub fn backbone(&self, train: &Interactions) -> Option<Box<dyn Backbone>> {
        match self.entry().build {
            Kind::Gradient(build) => Some((build.backbone)(self.params(), train)),
            Kind::ClosedForm(_) => None,
        }
    }
}
