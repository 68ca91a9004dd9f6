//! The stages of a step between drawing and applying: each is a value that the next one is made of.

use rivalry_kernels::add_weighted_rows;

use super::batch_rows::BatchRows;
use super::buffers::{Buffers, add_prior, score_positives};
use super::history::History;
use super::scorer::{Queries, ScoreGrads};
use super::{Batch, GradientStep, Gradients};
use crate::backbone::{self, Embeddings};
use crate::loss::{NegativeFeatures, Phase};
use crate::optim::Touched;
use crate::sampler::Sampler;
use crate::{Error, Result};

/// A batch whose negatives are drawn.
pub struct Drawn<'s, 'b> {
    pub(super) step: &'s mut GradientStep,
    pub(super) batch: Batch<'b>,
    pub(super) sampler: &'b dyn Sampler,
}

impl<'s, 'b> Drawn<'s, 'b> {
    /// Makes the embeddings that are scored.
    pub fn forward(self, phase: Phase) -> Forward<'s, 'b> {
        let Self { step, batch, sampler } = self;
        if let (true, Some(items)) = (step.rows.gathered, step.scorer.items()) {
            let rows = [&step.rows.distinct_users, items];
            step.model.gather(rows);
            if let Some(adversary) = &mut step.adversary {
                adversary.gather(rows);
            }
            return Forward { step, batch, sampler, phase };
        }
        let items = step.scorer.items().filter(|_| !step.reads_all_items(batch.epoch));
        let touched = Touched { users: Some(&step.rows.distinct_users), items };
        step.model.catch_up(touched);
        if let Some(adversary) = &mut step.adversary {
            adversary.catch_up(touched);
        }
        let number = (batch.epoch as u64) << 40 | (batch.batch as u64) << 2 | phase as u64;
        step.model.model.forward(backbone::Step { touched, seed: batch.seed, number });
        if let Some(history) = &mut step.history {
            history.forward(step.model.model.scored(), &step.rows.distinct_users, batch);
        }
        Forward { step, batch, sampler, phase }
    }
}

/// A batch whose embeddings are made.
pub struct Forward<'s, 'b> {
    step: &'s mut GradientStep,
    batch: Batch<'b>,
    sampler: &'b dyn Sampler,
    phase: Phase,
}

impl<'s, 'b> Forward<'s, 'b> {
    /// Scores the positives and negatives, with the features of the negatives that the loss asks for.
    pub fn score(self) -> Scored<'s, 'b> {
        let Self { step, batch, sampler, phase } = self;
        let stride = step.scorer.stride(step.n_candidates);
        // Where only the hardest candidates become negatives, these are not known yet.
        let slate = step.loss.slate().filter(|_| step.n_candidates == step.n_negatives);
        let wanted = match slate {
            Some(_) => NegativeFeatures::None,
            None => step.loss.negative_features(),
        };
        let with_features = wanted != NegativeFeatures::None;
        step.buffers.resize(&*step.loss, batch.users.len(), [step.n_candidates, stride], with_features);
        let Buffers { positives, scores, features, log_probs, .. } = &mut step.buffers;
        let rows = &step.rows;
        let queries = model_queries(step.history.as_ref(), step.model.model.scored(), rows);
        let by_positives = Queries { of: queries.table, ids: &rows.items, ..queries };
        let second = match wanted {
            NegativeFeatures::None => None,
            NegativeFeatures::Similarities => Some(by_positives),
            NegativeFeatures::AdversaryScores => {
                step.adversary.as_ref().map(|adversary| user_queries(adversary.model.scored(), rows))
            }
        };
        rayon::join(
            || step.scorer.score(queries, scores, second.map(|queries| (queries, features))),
            || score_positives(queries, &rows.items, positives),
        );
        if let Some(prior) = step.model.model.prior() {
            step.scorer.add_prior(prior, scores);
            add_prior(prior, batch.items, positives);
        }
        if !log_probs.is_empty() {
            step.scorer.for_each_row(log_probs, &|row, items, log_probs| {
                sampler.log_probs(batch.users[row], items, log_probs);
            });
        }
        if step.n_candidates > step.n_negatives {
            step.buffers.keep_hardest(step.n_negatives);
        }
        if let Some(n) = slate {
            step.buffers.find_slates(n, &*step.scorer, by_positives);
        }
        Scored { step, batch, phase }
    }
}

/// A batch whose pairs are scored.
pub struct Scored<'s, 'b> {
    step: &'s mut GradientStep,
    batch: Batch<'b>,
    phase: Phase,
}

impl<'s, 'b> Scored<'s, 'b> {
    /// The loss of the batch and the gradients of its scores.
    ///
    /// # Errors
    /// If the loss is not finite.
    pub fn loss(self) -> Result<BatchLoss<'s, 'b>> {
        let Self { step, batch, phase } = self;
        step.buffers.evaluate_loss(&*step.loss, batch.users, phase);
        let mut mean = step.buffers.mean_loss();
        if phase == Phase::Model {
            mean += step.model.model.auxiliary_loss(batch.users, batch.items);
        }
        if !mean.is_finite() {
            return Err(Error::NonFinite { what: "loss", epoch: batch.epoch + 1, batch: batch.batch + 1 });
        }
        Ok(BatchLoss { step, batch, phase, mean })
    }
}

/// A batch whose loss is known.
pub struct BatchLoss<'s, 'b> {
    step: &'s mut GradientStep,
    batch: Batch<'b>,
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
        let GradientStep { loss, model, adversary, scorer, history, rows, buffers, .. } = step;
        let quantiles = match loss.quantile_rank(batch.epoch) {
            Some(rank) => {
                let queries = model_queries(history.as_ref(), model.model.scored(), rows);
                buffers.quantiles(queries, batch, rank, model.model.prior())
            }
            None => Vec::new(),
        };
        let n_params = if phase == Phase::Adversary { 0 } else { loss.n_params() };
        let loss_params = buffers.loss_param_grads(n_params);
        buffers.scatter_hardest();
        // The adversary goes uphill.
        let (moving, history, sign) = match (phase, adversary) {
            (Phase::Adversary, Some(adversary)) => (adversary, None, -1.0),
            _ => (model, history.as_mut(), 1.0),
        };
        let (all_items, mut embeddings) = (history.is_some(), moving.take_grads(rows.gathered));
        if phase != Phase::LossParams {
            // The weight of one pair in the mean over the batch.
            let share = sign / batch.users.len() as f32;
            let queries = model_queries(history.as_deref(), moving.model.scored(), rows);
            buffers.user_grads.resize(batch.users.len(), queries.table.cols());
            let grads = ScoreGrads {
                negatives: &mut buffers.score_grads,
                items: &rows.items,
                positives: &buffers.positive_grads,
            };
            scorer.backward(queries, grads, share, &mut buffers.user_grads, &mut embeddings.items);
            match history {
                Some(history) => {
                    let users = &rows.distinct_users;
                    history.backward(users, batch, share, &mut buffers.user_grads, &mut embeddings);
                }
                None => {
                    for (row, &user) in rows.users.iter().enumerate() {
                        let place = embeddings.users.row_lanes_mut(user as usize);
                        add_weighted_rows(buffers.user_grads.as_lanes(), &[row as u32], &[share], place);
                    }
                }
            }
        }
        let users = if embeddings.users.rows() == 0 { Vec::new() } else { rows.distinct_users.clone() };
        let items = scorer.items().filter(|_| !all_items).map(<[u32]>::to_vec);
        let (Batch { epoch, batch, .. }, sparse) = (batch, rows.gathered);
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

/// The queries of a model's pairs.
fn model_queries<'a>(
    history: Option<&'a History>,
    tables: &'a Embeddings,
    rows: &'a BatchRows,
) -> Queries<'a> {
    match history {
        Some(history) => history.queries(&tables.items),
        None => user_queries(tables, rows),
    }
}

fn user_queries<'a>(tables: &'a Embeddings, rows: &'a BatchRows) -> Queries<'a> {
    Queries { of: &tables.users, ids: &rows.users, table: &tables.items }
}
