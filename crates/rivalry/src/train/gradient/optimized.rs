//! A model with its optimiser.

use super::model::EmbeddingModel;
use crate::backbone::Embeddings;
use crate::optim::{OptimConfig, Optimizer, OptimizerState, Schedule, Size, StateRef, Touched};

/// A model, the optimiser that moves it, and room for its gradients.
pub struct OptimizedModel {
    pub(super) model: EmbeddingModel,
    pub(super) grads: Embeddings,
    optimizer: Box<dyn Optimizer>,
    schedule: Schedule,
}

impl OptimizedModel {
    /// A model at the start of its training, with a constant learning rate.
    pub fn new(model: EmbeddingModel, optim: &OptimConfig) -> Self {
        let size = Size::of(model.learned());
        Self { grads: size.zeros(), model, optimizer: optim.build(size), schedule: Schedule::CONSTANT }
    }

    /// The same with a learning-rate schedule.
    pub(super) fn with_schedule(self, schedule: Schedule) -> Self {
        Self { schedule, ..self }
    }

    /// The same, with an optimiser that has already taken steps; `None` if the state is of another optimiser or size.
    pub fn restored(mut self, state: OptimizerState) -> Option<Self> {
        self.optimizer.restore(state).then_some(self)
    }

    /// The model. Between two steps, rows without a gradient may be behind: see [`up_to_date`](Self::up_to_date).
    pub fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    /// The model with all rows up to date.
    pub fn up_to_date(&mut self) -> &mut EmbeddingModel {
        self.catch_up(Touched::default());
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

    /// Brings rows up to date before they are read.
    pub(super) fn catch_up(&mut self, touched: Touched<'_>) {
        self.model.catch_up(&mut self.grads, touched, &mut *self.optimizer);
    }

    /// Sets the learning rate of a batch of an epoch, both counted from 0.
    pub(super) fn schedule(&mut self, epoch: usize, batch: usize) {
        self.optimizer.scale_lr(self.schedule.factor(epoch, batch));
    }

    /// Moves the model along gradients of its scored embeddings and keeps the room they took.
    pub(super) fn apply(&mut self, mut grads: Embeddings, touched: Touched<'_>) {
        self.model.apply(&mut grads, touched, &mut *self.optimizer);
        self.grads = grads;
    }
}
