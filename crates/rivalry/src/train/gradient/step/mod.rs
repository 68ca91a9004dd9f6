//! One training step, stage by stage: draw → forward → score → loss → gradients → apply.
//!
//! Each stage is a value that the next one is made of, so that none can be left out or taken out of order:
//!
//! ```text
//! step.draw(batch, sampler)      the negatives of each pair
//!     .forward(phase)            the embeddings that are scored
//!     .score()                   scores of positives and negatives
//!     .loss()?                   loss values and gradients of the scores
//!     .gradients()               gradients of the embeddings
//! step.apply(gradients)          new parameters
//! ```
//!
//! How negatives are scored and their gradients brought back is chosen by cost ([`gather`], [`dense`]), or follows from
//! negatives that are shared ([`pooled`]).
//!
//! Where a training is cut into shards ([`super::shards`]), each stage works on the pairs of one shard after the other;
//! what they have in common is exchanged in between ([`exchange`]).

mod batch_rows;
mod blocks;
mod buffers;
mod dense;
mod exchange;
mod gather;
mod hardest;
mod history;
mod item_list;
mod item_set;
mod loss;
mod pool;
mod pooled;
#[cfg(test)]
mod prior_tests;
mod score_rows;
mod scorer;
mod selection;
mod shard;
mod slates;
mod stages;
mod step_batch;
mod tables;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use self::scorer::Draw;
use self::shard::Shard;
pub use self::stages::{BatchLoss, Drawn, Forward, Scored};
pub(super) use self::step_batch::StepBatch;
use self::tables::Tables;
use super::optimized::OptimizedModel;
use crate::Result;
use crate::backbone::Embeddings;
use crate::collective::Alone;
use crate::data::Interactions;
use crate::loss::{Loss, Phase, State};
use crate::optim::Touched;
use crate::rng::{Purpose, stream};
use crate::sampler::Sampler;

/// Training pairs of one step.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// The users.
    pub users: &'a [u32],
    /// The positive item of each.
    pub items: &'a [u32],
    /// The training set, for losses that look at a user's other items.
    pub train: &'a Interactions,
    /// The epoch, counted from 0.
    pub epoch: usize,
    /// The batch within the epoch, counted from 0.
    pub batch: usize,
    /// The seed of all randomness within the step.
    pub seed: u64,
}

/// A loss, the model it trains, its adversary if it has one, and the memory that steps work in.
pub struct GradientStep {
    loss: Box<dyn Loss>,
    model: OptimizedModel,
    adversary: Option<OptimizedModel>,
    layout: Layout,
    /// The shards of this process.
    shards: Vec<Shard>,
    /// Memory in which the gradients of shards are summed.
    tables: Tables,
    /// Negatives of a pair, as the loss sees them.
    n_negatives: usize,
    /// Candidates drawn for a pair; more than the negatives if only the hardest are kept.
    n_candidates: usize,
}

/// Which shards this process has, of how many, and the user its tables start with.
pub(super) struct Layout {
    pub count: usize,
    pub mine: Range<usize>,
    pub first_user: u32,
}

/// Gradients of one step, to be applied.
pub struct Gradients {
    /// Which parameters they are of.
    pub phase: Phase,
    /// The mean loss of the batch.
    pub loss: f64,
    /// The users with a gradient, ascending and each once.
    pub users: Vec<u32>,
    /// The items with a gradient, ascending and each once; `None` if any item may have one.
    pub items: Option<Vec<u32>>,
    /// The epoch, counted from 0.
    pub epoch: usize,
    /// The batch within the epoch, counted from 0.
    pub batch: usize,
    /// Whether the tables of gradients hold the rows of these users and items alone, in that order.
    pub sparse: bool,
    /// Gradients of the mean loss with respect to the scored embeddings.
    pub embeddings: Embeddings,
    /// Gradients of the mean loss with respect to the parameters of the loss.
    pub loss_params: Vec<f64>,
    /// For each pair of the batch the user's new quantile, or the gradient of one that is learned, if the loss wants it.
    quantiles: Vec<(u32, f32)>,
}

impl GradientStep {
    /// Prepares to train with negatives of this sampler. The adversary is there for the losses that have one, and of the
    /// size of the model.
    pub fn new(
        loss: Box<dyn Loss>,
        model: OptimizedModel,
        adversary: Option<OptimizedModel>,
        sampler: &dyn Sampler,
        n_negatives: usize,
    ) -> Self {
        let n_candidates = sampler.candidates(n_negatives);
        let layout = Layout { count: 1, mine: 0..1, first_user: 0 };
        let shards = vec![Shard::new(model.model(), sampler, n_candidates)];
        let tables = Tables::default();
        Self { loss, model, adversary, layout, shards, tables, n_negatives, n_candidates }
    }

    /// The same for batches that are cut into shards. The tables hold the users of this process alone.
    pub(super) fn in_shards(mut self, layout: Layout, sampler: &dyn Sampler) -> Self {
        let shard = |_| Shard::new(self.model.model(), sampler, self.n_candidates);
        self.shards = layout.mine.clone().map(shard).collect();
        Self { layout, ..self }
    }

    /// The model and its optimiser.
    pub fn model(&self) -> &OptimizedModel {
        &self.model
    }

    /// The model and its optimiser, to make its embeddings up to date.
    pub fn model_mut(&mut self) -> &mut OptimizedModel {
        &mut self.model
    }

    /// Brings all rows up to date. Called at the end of every epoch, so that the bits of a training don't depend on when
    /// it is evaluated or saved.
    pub fn catch_up_all(&mut self) {
        self.model.catch_up(Touched::default());
        if let Some(adversary) = &mut self.adversary {
            adversary.catch_up(Touched::default());
        }
    }

    /// The adversary and its optimiser.
    pub fn adversary(&self) -> Option<&OptimizedModel> {
        self.adversary.as_ref()
    }

    /// What the loss keeps from step to step.
    pub fn loss_state(&self) -> State {
        self.loss.state()
    }

    /// Takes one step and returns the mean loss of the batch before it.
    ///
    /// # Errors
    /// If the loss is not finite; then the parameters are not moved along it.
    pub fn step(&mut self, batch: Batch<'_>, sampler: &dyn Sampler) -> Result<f64> {
        self.step_with(batch, sampler, &draw_from(batch, sampler))
    }

    /// [`step`](Self::step) with negatives of the caller's own: `draw` fills in those of one pair of the batch, by its
    /// place in it.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn step_with(&mut self, batch: Batch<'_>, sampler: &dyn Sampler, draw: Draw<'_>) -> Result<f64> {
        let batch = alone(batch);
        self.run(batch, |step| step.draw_with(batch.whole, sampler, draw), sampler)
    }

    /// [`step`](Self::step) with a batch that is cut into shards.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub(super) fn step_in_shards(&mut self, batch: StepBatch<'_>, sampler: &dyn Sampler) -> Result<f64> {
        self.run(batch, |step| step.draw_in_shards(batch, sampler), sampler)
    }

    /// Takes one step with a batch whose negatives are drawn once: a later phase of the same step sees the same.
    fn run<'b>(
        &mut self,
        batch: StepBatch<'b>,
        draw: impl for<'s> Fn(&'s mut Self) -> Drawn<'s, 'b>,
        sampler: &'b dyn Sampler,
    ) -> Result<f64> {
        let mut first = None;
        for &phase in self.loss.phases(batch.whole.epoch) {
            let drawn = match first {
                None => draw(self),
                Some(_) => Drawn { step: self, batch, sampler },
            };
            let gradients = drawn.forward(phase).score().loss()?.gradients();
            first.get_or_insert(gradients.loss);
            self.apply(gradients);
        }
        Ok(first.unwrap_or(f64::NAN))
    }

    /// Draws the negatives of each pair.
    pub fn draw<'s, 'b>(&'s mut self, batch: Batch<'b>, sampler: &'b dyn Sampler) -> Drawn<'s, 'b> {
        self.draw_with(batch, sampler, &draw_from(batch, sampler))
    }

    /// [`draw`](Self::draw) with negatives of the caller's own; `sampler` is asked for their log-probabilities alone.
    pub fn draw_with<'s, 'b>(
        &'s mut self,
        batch: Batch<'b>,
        sampler: &'b dyn Sampler,
        draw: Draw<'_>,
    ) -> Drawn<'s, 'b> {
        self.draw_shard(0, batch, draw);
        Drawn { step: self, batch: alone(batch), sampler }
    }

    /// Draws the negatives of each pair, of all shards of this process.
    fn draw_in_shards<'s, 'b>(&'s mut self, batch: StepBatch<'b>, sampler: &'b dyn Sampler) -> Drawn<'s, 'b> {
        for place in batch.places_with_pairs() {
            let (part, first_row) = (batch.part(place), batch.first_row + batch.start(place));
            self.draw_shard(place, part, &draw_rows(part, first_row, sampler));
        }
        Drawn { step: self, batch, sampler }
    }

    fn draw_shard(&mut self, place: usize, batch: Batch<'_>, draw: Draw<'_>) {
        self.shards[place].scorer.draw(batch, self.n_candidates, draw);
        let gathered = self.layout.count == 1
            && self.model.can_gather()
            && self.shards[place].scorer.items().is_some()
            && !self.reads_all_items(batch.epoch);
        let Shard { scorer, rows, .. } = &mut self.shards[place];
        rows.set(batch, self.layout.first_user, gathered);
        if gathered {
            scorer.renumber(&mut rows.items);
        }
    }

    /// Whether a step reads rows of items that are not in its batch: quantiles are taken over all items of a user, and users
    /// may be made of all of their items.
    fn reads_all_items(&self, epoch: usize) -> bool {
        self.loss.quantile_rank(epoch).is_some() || self.shards.iter().any(|shard| shard.history.is_some())
    }

    /// Moves the parameters along the gradients.
    pub fn apply(&mut self, gradients: Gradients) {
        let Gradients {
            phase,
            users,
            items,
            sparse,
            mut embeddings,
            loss_params,
            quantiles,
            epoch,
            batch,
            ..
        } = gradients;
        let touched = Touched { users: Some(&users), items: items.as_deref() };
        self.model.schedule(epoch, batch);
        if self.layout.count > 1 && phase != Phase::LossParams {
            let moving = match (phase, &mut self.adversary) {
                (Phase::Adversary, Some(adversary)) => adversary,
                _ => &mut self.model,
            };
            // Other processes may have brought gradients of rows that this one has not read.
            moving.put_grads(embeddings, sparse);
            moving.catch_up(Touched { users: Some(&[]), ..touched });
            embeddings = moving.take_grads(sparse);
        }
        match (phase, &mut self.adversary) {
            (Phase::LossParams, _) => self.model.put_grads(embeddings, sparse),
            (Phase::Adversary, Some(adversary)) => adversary.apply(embeddings, touched, sparse),
            _ => self.model.apply(embeddings, touched, sparse),
        }
        if !loss_params.is_empty() {
            self.loss.step_params(phase, &loss_params, self.model.lr());
        }
        if self.loss.learns_quantiles() {
            self.loss.step_quantiles(&quantiles);
        } else {
            quantiles.iter().for_each(|&(user, quantile)| self.loss.set_quantile(user, quantile));
        }
    }
}

/// A batch that is not cut, of a training that is not shared.
fn alone(whole: Batch<'_>) -> StepBatch<'_> {
    StepBatch { whole, cuts: &[], first_row: 0, pairs: whole.users.len(), collective: &Alone }
}

/// Draws from a sampler, each row of the batch from its own random stream.
fn draw_from<'a>(batch: Batch<'a>, sampler: &'a dyn Sampler) -> impl Fn(usize, &mut [u32]) + Sync + 'a {
    draw_rows(batch, 0, sampler)
}

/// The same for rows that are not the first of their step.
fn draw_rows<'a>(
    batch: Batch<'a>,
    first_row: usize,
    sampler: &'a dyn Sampler,
) -> impl Fn(usize, &mut [u32]) + Sync + 'a {
    move |row: usize, out: &mut [u32]| {
        let key = [batch.epoch as u64, batch.batch as u64, (first_row + row) as u64];
        sampler.draw(batch.users[row], &mut stream(batch.seed, Purpose::Negatives, &key), out);
    }
}
