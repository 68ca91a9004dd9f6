//! The start of a training: a step that begins with initial tables, or with those of a saved state.

use std::ops::Range;

use super::init::{initial_from_als, initial_of_users};
use super::shards::Shards;
use super::state::{rows_of, scattered};
use super::step::Layout;
use super::{EmbeddingModel, GradientStep, GradientTrainer, OptimizedModel};
use crate::backbone::{self, Embeddings, Score};
use crate::config::InitialTables;
use crate::data::{Dataset, Interactions};
use crate::loss::{self, Loss};
use crate::optim::{LR, OptimConfig, OptimizerState, Schedule, Size, WEIGHT_DECAY};
use crate::params::Value;
use crate::rng::Purpose;
use crate::sampler::Sampler;
use crate::tensors::Tensors;
use crate::train::{Progress, TrainingState};
use crate::{InputError, Result};

/// A training about to take its next step.
pub(super) struct Start {
    pub step: GradientStep,
    pub progress: Progress,
    pub best: Option<Tensors>,
}

impl GradientTrainer<'_> {
    /// Builds the loss, the model and the optimisers, and restores them from the state if there is one.
    pub(super) fn start(
        &self,
        dataset: &Dataset,
        from: Option<TrainingState>,
        (shards, sampler): (&Shards, &dyn Sampler),
    ) -> Result<Start> {
        let (model, train, settings) = (&self.config.model, &dataset.train, &self.gradient.train);
        let mut loss = self.gradient.loss.build();
        let (Some(backbone), Some(score), Some(dim)) = (model.backbone(train), model.score(), model.dim())
        else {
            return Err(InputError::new("not a gradient model").field("model").into());
        };
        let size = Size { users: model.users().table_rows(train.n_users()), items: train.n_items(), dim };
        let users = shards.my_users();
        let rows = users.start as usize..users.end as usize;
        let state = match scattered(self.collective, from, rows.clone())? {
            Some(state) => {
                let rows = model.users().table_rows(rows.len());
                check_state(&state, &mut *loss, Size { users: rows, ..size })?;
                state
            }
            None => self.beginning_of_users(&*loss, size, rows, train)?,
        };
        let TrainingState { progress, learned, optim, adversary, best, .. } = state;
        let prior = model.popularity_prior(train);
        let model = EmbeddingModel::new(backbone, score, learned).with_users(model.users()).with_prior(prior);
        let optim_config = &self.gradient.optim;
        let schedule =
            Schedule::new(optim_config.params(), settings.epochs, train.len().div_ceil(settings.batch_size));
        let model = OptimizedModel::new(model, optim_config).with_schedule(schedule);
        let model = restored(model, optim)?;
        let adversary = match (adversary, loss.adversary_lr()) {
            (Some((learned, optim)), Some(lr)) => {
                let model = EmbeddingModel::new(backbone::plain(), Score::Cosine, learned);
                let config: OptimConfig = optim_config.clone();
                let config =
                    config.with(LR.name, Value::Number(lr)).with(WEIGHT_DECAY.name, Value::Number(0.0));
                Some(restored(OptimizedModel::new(model, &config), optim)?)
            }
            _ => None,
        };
        let step = GradientStep::new(loss, model, adversary, sampler, self.gradient.train.negatives);
        let layout = Layout { count: shards.count(), mine: shards.mine(), first_user: users.start };
        let step = step.in_shards(layout, sampler);
        Ok(Start { step, progress, best })
    }

    /// A training that has not taken a step.
    pub(super) fn beginning(
        &self,
        loss: &dyn Loss,
        size: Size,
        train: &Interactions,
    ) -> Result<TrainingState> {
        self.beginning_of_users(loss, size, 0..train.n_users(), train)
    }

    /// The same with the rows of these users alone.
    fn beginning_of_users(
        &self,
        loss: &dyn Loss,
        size: Size,
        users: Range<usize>,
        train: &Interactions,
    ) -> Result<TrainingState> {
        let tables = |size: Size, rows: Range<usize>, purpose| {
            initial_of_users(self.gradient.loss.defaults().init, size, rows, self.config.seed, purpose)
        };
        let rows = if size.users == 0 { 0..0 } else { users.clone() };
        let learned = match self.gradient.train.init {
            InitialTables::Random => tables(size, rows, Purpose::Init),
            InitialTables::Als => {
                let random = tables(size, 0..size.users, Purpose::Init);
                let Embeddings { users, items } = initial_from_als(train, self.config.seed, random)?;
                Embeddings { users: rows_of(&users, rows), items }
            }
        };
        // An adversary has a row for each user, whatever the model has.
        let adversary = Size { users: train.n_users(), ..size };
        Ok(TrainingState {
            progress: Progress::default(),
            learned,
            optim: OptimizerState::default(),
            adversary: loss
                .adversary_lr()
                .map(|_| (tables(adversary, users, Purpose::AdversaryInit), OptimizerState::default())),
            loss: loss::State::new(),
            best: None,
        })
    }
}

/// Refuses a state of another training, and restores that of the loss.
fn check_state(state: &TrainingState, loss: &mut dyn Loss, size: Size) -> Result<()> {
    let saved = Size::of(&state.learned);
    if saved != size || !(state.loss.is_empty() || loss.restore(&state.loss)) {
        let what = format!("the saved state is of another training: {saved} there, {size} here");
        return Err(InputError::new(what).help("resume with the data and config of the run").into());
    }
    let fresh = state.progress == Progress::default();
    let lacks_state = state.loss.is_empty() && !loss.state().is_empty() && !fresh;
    if state.adversary.is_some() != loss.adversary_lr().is_some() || lacks_state {
        return Err(InputError::new("the saved state lacks what the loss keeps from step to step")
            .help("resume with the config of the run, or train it again")
            .into());
    }
    Ok(())
}

fn restored(model: OptimizedModel, state: OptimizerState) -> Result<OptimizedModel> {
    if state == OptimizerState::default() {
        return Ok(model);
    }
    model.restored(state).ok_or_else(|| {
        InputError::new("the saved state is of another optimiser")
            .help("resume with the config of the run, or train it again")
            .into()
    })
}
