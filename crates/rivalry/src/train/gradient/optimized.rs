//! A model with its optimiser.

use super::model::EmbeddingModel;
use crate::backbone::Embeddings;
use crate::optim::{OptimConfig, Optimizer, OptimizerState, Schedule, Size, StateRef, Touched};

/// A model, the optimiser that moves it, and room for its gradients.
pub struct OptimizedModel {
    pub(super) model: EmbeddingModel,
    pub(super) grads: Embeddings,
    /// Room for the gradients of a batch's rows alone.
    gathered_grads: Embeddings,
    optimizer: Box<dyn Optimizer>,
    schedule: Schedule,
}

impl OptimizedModel {
    /// A model at the start of its training, with a constant learning rate.
    pub fn new(model: EmbeddingModel, optim: &OptimConfig) -> Self {
        let size = Size::of(model.learned());
        Self {
            grads: size.zeros(),
            gathered_grads: Embeddings::default(),
            model,
            optimizer: optim.build(size),
            schedule: Schedule::CONSTANT,
        }
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

    /// Whether a step can do with the rows of its batch.
    pub(super) fn can_gather(&self) -> bool {
        self.model.can_gather(&*self.optimizer)
    }

    /// Gathers the scored rows of these users and items.
    pub(super) fn gather(&mut self, rows: [&[u32]; 2]) {
        self.model.gather(&mut self.gathered_grads, rows, &mut *self.optimizer);
    }

    /// Takes the room for gradients of the scored embeddings, which are zero.
    pub(super) fn take_grads(&mut self, gathered: bool) -> Embeddings {
        std::mem::take(if gathered { &mut self.gathered_grads } else { &mut self.grads })
    }

    /// Gives that room back.
    pub(super) fn put_grads(&mut self, grads: Embeddings, gathered: bool) {
        *(if gathered { &mut self.gathered_grads } else { &mut self.grads }) = grads;
    }

    /// Sets the learning rate of a batch of an epoch, both counted from 0.
    pub(super) fn schedule(&mut self, epoch: usize, batch: usize) {
        self.optimizer.scale_lr(self.schedule.factor(epoch, batch));
    }

    /// Moves the model along gradients of its scored embeddings and keeps the room they took. `gathered` says whether
    /// these are gradients of the touched rows alone.
    pub(super) fn apply(&mut self, mut grads: Embeddings, touched: Touched<'_>, gathered: bool) {
        match (gathered, touched.users, touched.items) {
            (true, Some(users), Some(items)) => {
                self.model.apply_gathered(&mut grads, [users, items], &mut *self.optimizer);
            }
            _ => self.model.apply(&mut grads, touched, &mut *self.optimizer),
        }
        self.put_grads(grads, gathered);
    }
}
