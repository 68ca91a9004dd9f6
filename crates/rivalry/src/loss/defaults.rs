//! How a model is trained with a loss unless the user says otherwise.
//!
//! A learning rate that suits one loss ruins another, so each loss brings its own, and the ranges in which a sweep
//! searches them.

use super::{Init, Negatives};
use crate::backbone::{POPULARITY_WEIGHT, Score};
use crate::optim::{LR, WEIGHT_DECAY};
use crate::params::{Param, Search};

/// The settings of other sections that suit a loss. Explicit settings always win.
#[derive(Clone, Copy, Debug)]
pub struct Defaults {
    /// `model.score`
    pub score: Score,
    /// `model.popularity_weight`: what a sweep tries.
    pub popularity_weight: Param,
    /// `optim.lr`: default and search.
    pub lr: Param,
    /// `optim.weight_decay`: default and search.
    pub weight_decay: Param,
    /// `train.negatives`
    pub negatives: Negatives,
    /// The initialisation of the embeddings.
    pub init: Init,
}

impl Defaults {
    /// Those of losses on cosines: the length of an embedding doesn't count, so nothing needs to be held down.
    pub const COSINE: Self = Self {
        score: Score::Cosine,
        // Around the temperatures that work, which are its natural scale.
        popularity_weight: Param { search: Search::uniform(&[0.0, 0.1, 0.2, 0.3]), ..POPULARITY_WEIGHT },
        lr: Param { search: Search::log_uniform(&[0.01, 0.03, 0.1, 0.3]).paper(LR.search.paper), ..LR },
        weight_decay: WEIGHT_DECAY,
        negatives: Negatives::Default(1000),
        init: Init::Normal(1.0),
    };

    /// The settings of the optimiser, each with its default and search.
    pub fn optim(&self) -> [&Param; 2] {
        [&self.lr, &self.weight_decay]
    }
}
