//! The memory that a step works in: what is known of each row of a batch.

use rayon::prelude::*;
use rivalry_kernels::{Matrix, dots};

use super::Batch;
use super::hardest::Hardest;
use super::score_rows::ScoreRows;
use super::scorer::Queries;
use super::slates::Slates;
use crate::loss::{BatchGradients, Loss, ROWS};

/// One row a training pair, one column a candidate where there are several.
#[derive(Default)]
pub(super) struct Buffers {
    /// The score of each row's positive.
    pub positives: Vec<f32>,
    pub scores: ScoreRows,
    /// The sum of the exponentials of each row, where they were computed together with the scores: they are then in `score_grads`,
    /// and `scores` is not filled in. Otherwise empty.
    pub totals: Vec<f32>,
    /// What each row of these exponentials was multiplied by to become gradients.
    pub factors: Vec<f32>,
    /// The feature of each negative that the loss asks for, or nothing.
    pub features: ScoreRows,
    /// The log-probability of each negative, if the loss asks for it.
    pub log_probs: ScoreRows,
    /// Where only the hardest candidates become negatives: those.
    pub hardest: Hardest,
    /// Where the loss needs the features of the highest-scored negatives alone: those.
    pub slates: Slates,
    pub measures: Vec<f32>,
    /// The loss of each row.
    pub values: Vec<f32>,
    pub score_grads: ScoreRows,
    pub positive_grads: Vec<f32>,
    /// For each chunk of rows the gradients of the loss's parameters.
    pub param_grads: Vec<f32>,
    pub user_grads: Matrix,
}

impl Buffers {
    /// Makes room for so many rows of so many candidates, `stride` values apart, and for their features if there are any.
    pub fn resize(&mut self, loss: &dyn Loss, rows: usize, [candidates, stride]: [usize; 2], features: bool) {
        self.positives.resize(rows, 0.0);
        self.scores.resize(rows, candidates, stride);
        if features {
            self.features.resize(rows, candidates, stride);
        }
        if loss.uses_log_probs() {
            self.log_probs.resize(rows, candidates, stride);
        }
        self.measures.resize(rows, 0.0);
        self.values.resize(rows, 0.0);
        self.score_grads.resize(rows, candidates, stride);
        self.positive_grads.resize(rows, 0.0);
        self.param_grads.resize(BatchGradients::<f32>::param_places(rows, loss.n_params()), 0.0);
    }

    /// For each row its user and the score of that rank among the user's training items and the row's negatives. The
    /// prior is part of a score.
    pub fn quantiles(
        &self,
        queries: Queries<'_>,
        batch: Batch<'_>,
        rank: usize,
        prior: Option<&[f32]>,
    ) -> Vec<(u32, f32)> {
        let quantile = |(row, &user): (usize, &u32)| {
            let positives = batch.train.items_of(user);
            let mut scores = vec![0.0; positives.len()];
            dots(queries.row(row), queries.table.as_lanes(), positives, &mut scores);
            prior.into_iter().for_each(|prior| add_prior(prior, positives, &mut scores));
            scores.extend_from_slice(match self.hardest.is_empty() {
                true => self.scores.row(row),
                false => self.hardest.scores_of(row, batch.users.len()),
            });
            let place = rank.min(scores.len()) - 1;
            (user, *scores.select_nth_unstable_by(place, |a, b| b.total_cmp(a)).1)
        };
        batch.users.par_iter().enumerate().map(quantile).collect()
    }
}

/// Adds the prior of these items to their scores.
pub(super) fn add_prior(prior: &[f32], items: &[u32], scores: &mut [f32]) {
    items.iter().zip(scores).for_each(|(&item, score)| *score += prior[item as usize]);
}

/// Scores the positive of each row.
pub(super) fn score_positives(queries: Queries<'_>, items: &[u32], out: &mut [f32]) {
    let rows = out.par_iter_mut().enumerate().with_min_len(ROWS);
    rows.for_each(|(row, positive)| {
        let mut score = [0.0];
        dots(queries.row(row), queries.table.as_lanes(), &[items[row]], &mut score);
        *positive = score[0];
    });
}
