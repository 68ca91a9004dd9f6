//! A model with its optimiser.

use super::model::EmbeddingModel;
use crate::backbone::Embeddings;
use crate::optim::{OptimConfig, Optimizer, OptimizerState, Size, StateRef};

/// A model, the optimiser that moves it, and room for its gradients.
pub struct OptimizedModel {
    pub(super) model: EmbeddingModel,
    pub(super) grads: Embeddings,
    optimizer: Box<dyn Optimizer>,
}

impl OptimizedModel {
    /// A model at the start of its training.
    pub fn new(model: EmbeddingModel, optim: &OptimConfig) -> Self {
        let size = Size::of(model.learned());
        Self { grads: size.zeros(), model, optimizer: optim.build(size) }
    }

    /// The same, with an optimiser that has already taken steps; `None` if the state is of another optimiser or size.
    pub fn restored(mut self, state: OptimizerState) -> Option<Self> {
        self.optimizer.restore(state).then_some(self)
    }

    /// The model.
    pub fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    /// The model, to make its embeddings up to date.
    pub fn model_mut(&mut self) -> &mut EmbeddingModel {
        &mut self.model
    }

    /// What the optimiser keeps from step to step.
    pub fn optimizer_state(&self) -> StateRef<'_> {
        self.optimizer.state()
    }

    /// The learning rate.
    pub(super) fn lr(&self) -> f64 {
        self.optimizer.lr()
    }

    /// Moves the model along gradients of its scored embeddings and keeps the room they took.
    pub(super) fn apply(&mut self, mut grads: Embeddings, users: &[u32]) {
        self.model.apply(&mut grads, users, &mut *self.optimizer);
        self.grads = grads;
    }
}
