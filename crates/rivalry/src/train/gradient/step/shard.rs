//! The pairs of one shard in a step: scored and brought back on their own.

use rivalry_kernels::{Exponent, add_weighted_rows};

use super::batch_rows::BatchRows;
use super::buffers::{Buffers, add_prior, score_positives};
use super::history::History;
use super::scorer::{LARGEST_COSINE, NegativeScorer, Queries, ScoreGrads};
use super::{Batch, dense, gather, pooled};
use crate::backbone::{Embeddings, Score, Users};
use crate::loss::{Loss, NegativeFeatures};
use crate::sampler::Sampler;
use crate::train::gradient::EmbeddingModel;

/// How the pairs of a shard are scored, and the memory for it.
pub(super) struct Shard {
    pub scorer: Box<dyn NegativeScorer>,
    /// The queries of the pairs, where users are made of their items.
    pub history: Option<History>,
    pub rows: BatchRows,
    pub buffers: Buffers,
}

/// What scores depend on, besides the pairs.
#[derive(Clone, Copy)]
pub(super) struct Scoring<'a> {
    pub loss: &'a dyn Loss,
    pub model: &'a EmbeddingModel,
    pub adversary: Option<&'a EmbeddingModel>,
    pub sampler: &'a dyn Sampler,
    /// Candidates drawn for a pair, and negatives kept of these.
    pub candidates: [usize; 2],
}

/// The largest difference of two exponents that is exponentiated without looking for the largest score first: `e^-80` is a
/// normal number in single precision.
const LARGEST_DIFFERENCE: f32 = 80.0;

impl Scoring<'_> {
    /// How scores are exponentiated as they are made, if the loss needs nothing else of them, and if they have a bound: that of
    /// the cosine.
    fn exponent(&self, epoch: usize) -> Option<Exponent> {
        let Self { loss, model, candidates: [n_candidates, n_negatives], .. } = *self;
        let form = loss.log_sum_exp_form()?;
        let exponent = Exponent { sharpness: form.sharpness() as f32, bound: LARGEST_COSINE };
        let cosine =
            model.score() == Score::Cosine && model.prior().is_none() && model.users() == Users::Table;
        let nothing_else = n_candidates == n_negatives && loss.quantile_rank(epoch).is_none();
        let bounded = cosine && 2.0 * exponent.sharpness <= LARGEST_DIFFERENCE;
        (bounded && nothing_else).then_some(exponent)
    }
}

impl Shard {
    pub fn new(model: &EmbeddingModel, sampler: &dyn Sampler, n_candidates: usize) -> Self {
        let items = &model.learned().items;
        let scorer: Box<dyn NegativeScorer> = if let Some(pairs) = sampler.pool() {
            Box::new(pooled::PooledScorer::new(pairs))
        } else if dense::pays(items.rows(), n_candidates) {
            Box::new(dense::DenseScorer::default())
        } else {
            Box::new(gather::GatherScorer::new(items.rows(), items.lanes(), n_candidates))
        };
        let history = match model.users() {
            Users::Table => None,
            Users::Items { user_weight } => Some(History::new(model.score(), user_weight)),
        };
        Self { scorer, history, rows: BatchRows::default(), buffers: Buffers::default() }
    }

    /// Scores the positives and negatives, with the features of the negatives that the loss asks for.
    pub fn score(&mut self, batch: Batch<'_>, scoring: Scoring<'_>) {
        let Scoring { loss, model, adversary, sampler, candidates: [n_candidates, n_negatives] } = scoring;
        let Self { scorer, history, rows, buffers } = self;
        let stride = scorer.stride(n_candidates);
        // Where only the hardest candidates become negatives, these are not known yet.
        let slate = loss.slate().filter(|_| n_candidates == n_negatives);
        let wanted = match slate {
            Some(_) => NegativeFeatures::None,
            None => loss.negative_features(),
        };
        let with_features = wanted != NegativeFeatures::None;
        buffers.resize(loss, batch.users.len(), [n_candidates, stride], with_features);
        let Buffers { positives, scores, features, log_probs, score_grads, totals, .. } = buffers;
        let queries = model_queries(history.as_ref(), model.scored(), rows);
        totals.clear();
        if let (Some(exponent), Some(scorer)) = (scoring.exponent(batch.epoch), scorer.exp_scorer()) {
            totals.resize(batch.users.len(), 0.0);
            rayon::join(
                || scorer.score_exp(queries, exponent, score_grads, totals),
                || score_positives(queries, &rows.items, positives),
            );
            return;
        }
        let by_positives = Queries { of: queries.table, ids: &rows.items, ..queries };
        let second = match wanted {
            NegativeFeatures::None => None,
            NegativeFeatures::Similarities => Some(by_positives),
            NegativeFeatures::AdversaryScores => {
                adversary.map(|adversary| user_queries(adversary.scored(), rows))
            }
        };
        rayon::join(
            || scorer.score(queries, scores, second.map(|queries| (queries, features))),
            || score_positives(queries, &rows.items, positives),
        );
        if let Some(prior) = model.prior() {
            scorer.add_prior(prior, scores);
            add_prior(prior, batch.items, positives);
        }
        if !log_probs.is_empty() {
            scorer.for_each_row(log_probs, &|row, items, log_probs| {
                sampler.log_probs(batch.users[row], items, log_probs);
            });
        }
        if n_candidates > n_negatives {
            buffers.keep_hardest(n_negatives);
        }
        if let Some(n) = slate {
            buffers.find_slates(n, &**scorer, by_positives);
        }
    }

    /// For each pair its user and the user's new quantile.
    pub fn quantiles(&self, batch: Batch<'_>, model: &EmbeddingModel, rank: usize) -> Vec<(u32, f32)> {
        let queries = model_queries(self.history.as_ref(), model.scored(), &self.rows);
        self.buffers.quantiles(queries, batch, rank, model.prior())
    }

    /// Adds `weight` times the gradients of the scored embeddings. The users of an adversary are never made of their items.
    pub fn backward(&mut self, batch: Batch<'_>, moving: Moving<'_>, grads: &mut Embeddings) {
        let Self { scorer, history, rows, buffers } = self;
        let Moving { model, is_adversary, weight } = moving;
        buffers.scatter_hardest();
        let history = history.as_mut().filter(|_| !is_adversary);
        let queries = model_queries(history.as_deref(), model.scored(), rows);
        buffers.user_grads.resize(batch.users.len(), queries.table.cols());
        let score_grads = ScoreGrads {
            negatives: &mut buffers.score_grads,
            items: &rows.items,
            positives: &buffers.positive_grads,
            factors: if buffers.totals.is_empty() { &[] } else { &buffers.factors },
        };
        scorer.backward(queries, score_grads, weight, &mut buffers.user_grads, &mut grads.items);
        match history {
            Some(history) => history.backward(rows, batch, weight, &mut buffers.user_grads, grads),
            None => {
                for (row, &user) in rows.users.iter().enumerate() {
                    let place = grads.users.row_lanes_mut(user as usize);
                    add_weighted_rows(buffers.user_grads.as_lanes(), &[row as u32], &[weight], place);
                }
            }
        }
    }
}

/// The model whose gradients are computed.
#[derive(Clone, Copy)]
pub(super) struct Moving<'a> {
    pub model: &'a EmbeddingModel,
    pub is_adversary: bool,
    /// The weight of one pair in the mean over the batch; negative where the way is uphill.
    pub weight: f32,
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
