//! The stages of a step between drawing and applying: each is a value that the next one is made of.

use super::exchange::{self, ItemGrads};
use super::shard::{Moving, Scoring, Shard};
use super::tables::Tables;
use super::{GradientStep, Gradients, StepBatch};
use crate::backbone;
use crate::collective::gathered;
use crate::loss::{Loss, Phase, RowLoss};
use crate::optim::Touched;
use crate::sampler::Sampler;
use crate::{Error, Result};

/// A batch whose negatives are drawn.
pub struct Drawn<'s, 'b> {
    pub(super) step: &'s mut GradientStep,
    pub(super) batch: StepBatch<'b>,
    pub(super) sampler: &'b dyn Sampler,
}

impl<'s, 'b> Drawn<'s, 'b> {
    /// Makes the embeddings that are scored.
    pub fn forward(self, phase: Phase) -> Forward<'s, 'b> {
        let Self { step, batch, sampler } = self;
        let whole = batch.whole;
        if let [Shard { rows, scorer, .. }] = &step.shards[..]
            && let (true, Some(items)) = (rows.gathered, scorer.items())
        {
            let rows = [&rows.table_rows[..], items];
            step.model.gather(rows);
            if let Some(adversary) = &mut step.adversary {
                adversary.gather(rows);
            }
            return Forward { step, batch, sampler, phase };
        }
        let reads_all_items = step.reads_all_items(whole.epoch);
        let items = batch.listed_items(&step.shards).filter(|_| !reads_all_items);
        let users = batch.touched_users(&step.shards);
        let touched = Touched { users: Some(&users), items: items.as_deref() };
        step.model.catch_up(touched);
        if let Some(adversary) = &mut step.adversary {
            adversary.catch_up(touched);
        }
        let number = (whole.epoch as u64) << 40 | (whole.batch as u64) << 2 | phase as u64;
        step.model.model.forward(backbone::Step { touched, seed: whole.seed, number });
        for (Shard { history, rows, .. }, batch) in batch.with_pairs(&mut step.shards) {
            if let Some(history) = history {
                history.forward(step.model.model.scored(), rows, batch);
            }
        }
        Forward { step, batch, sampler, phase }
    }
}

/// A batch whose embeddings are made.
pub struct Forward<'s, 'b> {
    step: &'s mut GradientStep,
    batch: StepBatch<'b>,
    sampler: &'b dyn Sampler,
    phase: Phase,
}

impl<'s, 'b> Forward<'s, 'b> {
    /// Scores the positives and negatives, with the features of the negatives that the loss asks for.
    pub fn score(self) -> Scored<'s, 'b> {
        let Self { step, batch, sampler, phase } = self;
        let GradientStep { loss, model, adversary, shards, n_candidates, n_negatives, .. } = &mut *step;
        let scoring = Scoring {
            loss: &**loss,
            model: &model.model,
            adversary: adversary.as_ref().map(|adversary| &adversary.model),
            sampler,
            candidates: [*n_candidates, *n_negatives],
        };
        for (shard, batch) in batch.with_pairs(shards) {
            shard.score(batch, scoring);
        }
        Scored { step, batch, phase }
    }
}

/// A batch whose pairs are scored.
pub struct Scored<'s, 'b> {
    step: &'s mut GradientStep,
    batch: StepBatch<'b>,
    phase: Phase,
}

impl<'s, 'b> Scored<'s, 'b> {
    /// The loss of the batch and the gradients of its scores.
    ///
    /// # Errors
    /// If the loss is not finite.
    pub fn loss(self) -> Result<BatchLoss<'s, 'b>> {
        let Self { step, batch, phase } = self;
        let GradientStep { loss, model, shards, .. } = &mut *step;
        for (shard, batch) in batch.with_pairs(shards) {
            shard.buffers.measure(&**loss, batch.users);
        }
        calibrate(&**loss, &batch, shards);
        for (shard, batch) in batch.with_pairs(shards) {
            shard.buffers.evaluate_loss(&**loss, batch.users, phase);
        }
        let sums = batch.of_shards(shards, 1, |shard| vec![shard.buffers.loss_sum()]);
        let mut mean = sums.iter().sum::<f64>() / batch.pairs as f64;
        if phase == Phase::Model {
            mean += model.model.auxiliary_loss(batch.whole.users, batch.whole.items);
        }
        if !mean.is_finite() {
            let (epoch, batch) = (batch.whole.epoch + 1, batch.whole.batch + 1);
            return Err(Error::NonFinite { what: "loss", epoch, batch });
        }
        Ok(BatchLoss { step, batch, phase, mean })
    }
}

/// Turns the measures of all rows of the batch, of whichever process, into what the loss needs.
fn calibrate(loss: &dyn Loss, batch: &StepBatch<'_>, shards: &mut [Shard]) {
    let loss: &dyn RowLoss<f32> = loss;
    match shards {
        _ if !loss.has_measure() => {}
        [shard] if batch.collective.size() == 1 => loss.calibrate(&mut shard.buffers.measures),
        shards => {
            let mine: Vec<f32> =
                batch.with_pairs(shards).flat_map(|(shard, _)| shard.buffers.measures.clone()).collect();
            let mut all: Vec<f32> = gathered(batch.collective, &mine);
            loss.calibrate(&mut all);
            let mut first = batch.first_row;
            for (shard, batch) in batch.with_pairs(shards) {
                shard.buffers.measures.copy_from_slice(&all[first..][..batch.users.len()]);
                first += batch.users.len();
            }
        }
    }
}

/// A batch whose loss is known.
pub struct BatchLoss<'s, 'b> {
    step: &'s mut GradientStep,
    batch: StepBatch<'b>,
    phase: Phase,
    mean: f64,
}

impl BatchLoss<'_, '_> {
    /// The mean loss of the batch.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Brings the gradients of the scores back to the embeddings.
    pub fn gradients(self) -> Gradients {
        let Self { step, batch, phase, mean } = self;
        let quantiles = step.quantiles(&batch);
        let n_params = if phase == Phase::Adversary { 0 } else { step.loss.n_params() };
        let pairs = batch.pairs;
        let params = |shard: &Shard| shard.buffers.loss_param_grads(n_params, pairs);
        let of_shards = batch.of_shards(&step.shards, n_params, params);
        let mut loss_params = vec![0.0; n_params];
        for of_shard in of_shards.chunks(n_params.max(1)) {
            loss_params.iter_mut().zip(of_shard).for_each(|(sum, x)| *sum += x);
        }
        let users = batch.touched_users(&step.shards).into_owned();
        let GradientStep { model, adversary, shards, layout, tables, .. } = step;
        // The adversary goes uphill.
        let (moving, is_adversary, sign) = match (phase, adversary) {
            (Phase::Adversary, Some(adversary)) => (adversary, true, -1.0),
            _ => (model, false, 1.0),
        };
        let all_items = !is_adversary && shards.iter().any(|shard| shard.history.is_some());
        let sparse = matches!(&shards[..], [shard] if shard.rows.gathered);
        let mut embeddings = moving.take_grads(sparse);
        let model = &moving.model;
        let moving = Moving { model, is_adversary, weight: sign / batch.pairs as f32 };
        let listed = |shard: &Shard| shard.scorer.items().filter(|_| !all_items).map(<[u32]>::to_vec);
        let items = match &mut shards[..] {
            [shard] if layout.count == 1 => {
                if phase != Phase::LossParams {
                    shard.backward(batch.whole, moving, &mut embeddings);
                }
                listed(shard)
            }
            _ if phase == Phase::LossParams => Some(Vec::new()),
            shards => {
                let (first, size) = (layout.mine.start, [embeddings.items.rows(), embeddings.items.cols()]);
                let leaf = |number: usize, tables: &mut Tables| {
                    let (shard, batch) = (&mut shards[number - first], batch.part(number - first));
                    if batch.users.is_empty() {
                        return ItemGrads::none(size[1]);
                    }
                    shard.backward(batch, moving, &mut embeddings);
                    ItemGrads::take(&mut embeddings.items, listed(shard).as_deref(), tables)
                };
                let mine = layout.mine.clone();
                let sum = exchange::add_up(layout.count, mine, size, batch.collective, tables, leaf);
                sum.put(&mut embeddings.items, tables)
            }
        };
        let users = if embeddings.users.rows() == 0 { Vec::new() } else { users };
        let (epoch, batch) = (batch.whole.epoch, batch.whole.batch);
        Gradients {
            phase,
            loss: mean,
            users,
            items,
            sparse,
            epoch,
            batch,
            embeddings,
            loss_params,
            quantiles,
        }
    }
}

impl GradientStep {
    /// For each pair of the batch, of whichever process, the user's new quantile or its gradient, if the loss wants it.
    fn quantiles(&mut self, batch: &StepBatch<'_>) -> Vec<(u32, f32)> {
        let Self { loss, model, shards, .. } = self;
        let shards = batch.with_pairs(shards);
        let mine: Vec<(u32, f32)> = match loss.quantile_rank(batch.whole.epoch) {
            Some(rank) => {
                shards.flat_map(|(shard, batch)| shard.quantiles(batch, &model.model, rank)).collect()
            }
            None if loss.learns_quantiles() => {
                shards.flat_map(|(shard, batch)| shard.buffers.quantile_gradients(&**loss, batch)).collect()
            }
            None => return Vec::new(),
        };
        if batch.collective.size() == 1 {
            return mine;
        }
        let bits: Vec<[u32; 2]> = mine.iter().map(|(user, value)| [*user, value.to_bits()]).collect();
        let all = gathered(batch.collective, &bits);
        all.into_iter().map(|[user, bits]| (user, f32::from_bits(bits))).collect()
    }
}
