//! A model and the optimiser that moves it.

use super::super::model::Model;
use super::super::optim::{AdamConfig, AdamState};
use crate::backbone::Embeddings;

/// A model and the optimiser that moves it.
pub struct Player {
    pub(super) model: Model,
    pub(super) adam: AdamConfig,
    pub(super) grads: Embeddings,
    optim: AdamState,
}

impl Player {
    /// A model at the start of its training.
    pub fn new(model: Model, adam: AdamConfig) -> Self {
        let Embeddings { users, items } = model.learned();
        let optim = AdamState::new(users.rows(), items.rows(), items.cols());
        Self { grads: Embeddings::zeros(users.rows(), items.rows(), items.cols()), model, optim, adam }
    }

    /// The same, with an optimiser that has already taken steps.
    #[must_use]
    pub fn with_optim(mut self, optim: AdamState) -> Self {
        self.optim = optim;
        self
    }

    /// The model as it stands.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The optimiser as it stands.
    pub fn optim(&self) -> &AdamState {
        &self.optim
    }

    /// Takes a step in which no users have gradients but these, in any order.
    pub(super) fn move_along_gradients(&mut self, users: &[u32]) {
        let mut users = users.to_vec();
        users.sort_unstable();
        users.dedup();
        let step = self.optim.next(&self.adam);
        self.model.update(&mut self.grads, &users, &mut self.optim, &step, self.adam.lazy);
    }
}
