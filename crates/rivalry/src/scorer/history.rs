//! Scores of users who are made of their items: known and new users are scored alike.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::OnceLock;

use rivalry_kernels::add_weighted_rows;

use super::embedding::norm;
use super::fold_in::centred_means;
use super::similarity::Similarity;
use super::{EmbeddingScorer, ItemBlock, Query, ReferenceScores, Scorer, unit_rows};
use crate::Matrix;
use crate::backbone::{Embeddings, Score};
use crate::data::Interactions;

/// A scorer without a table of users: the query of a known user is the fold-in query of their training items, plus a weight
/// times the user's own vector if the model has such vectors.
pub struct HistoryScorer<'a> {
    /// Scores by the item embeddings; its rows of users are the vectors that are added.
    scorer: EmbeddingScorer<'a>,
    user_weight: f32,
    train: Cow<'a, Interactions>,
    /// The queries of all users, once they are asked for as a table.
    embeddings: OnceLock<Embeddings>,
    user_similarity: OnceLock<Similarity<'static>>,
    /// The mean of all item embeddings, for reference scores.
    reference_centre: OnceLock<Vec<f64>>,
}

impl<'a> HistoryScorer<'a> {
    /// A scorer for the users of a training set. The rows of users of `scorer` are added with that weight, if it isn't zero.
    pub fn new(scorer: EmbeddingScorer<'a>, user_weight: f32, train: Cow<'a, Interactions>) -> Self {
        Self {
            scorer,
            user_weight,
            train,
            embeddings: OnceLock::new(),
            user_similarity: OnceLock::new(),
            reference_centre: OnceLock::new(),
        }
    }

    /// The query vectors of known users.
    fn vectors(&self, users: &[u32]) -> Matrix {
        let Embeddings { users: own, items } = self.scorer.embeddings();
        let mut vectors = centred_means(items, self.scorer.centre(), &self.train.gather_users(users));
        if self.user_weight > 0.0 {
            for (row, &user) in users.iter().enumerate() {
                add_weighted_rows(own.as_lanes(), &[user], &[self.user_weight], vectors.row_lanes_mut(row));
            }
        }
        if self.scorer.score == Score::Cosine { unit_rows(&vectors) } else { vectors }
    }

    fn users(&self) -> &Embeddings {
        self.embeddings.get_or_init(|| {
            let all: Vec<u32> = (0..self.n_users() as u32).collect();
            Embeddings { users: self.vectors(&all), items: self.scorer.embeddings().items.clone() }
        })
    }

    /// The embeddings before they were scaled to length one, where these are kept.
    fn raw(&self) -> &Embeddings {
        self.scorer.raw.as_ref().unwrap_or_else(|| self.scorer.embeddings())
    }

    /// A row as it is scored, in `f64`.
    fn exact(&self, row: &[f32]) -> Vec<f64> {
        let length = if self.scorer.score == Score::Cosine { norm(row) } else { 1.0 };
        row.iter().map(|&x| if length > 0.0 { f64::from(x) / length } else { 0.0 }).collect()
    }

    fn exact_mean(&self, items: impl ExactSizeIterator<Item = usize>) -> Vec<f64> {
        let n = items.len() as f64;
        let mut mean = vec![0.0; self.raw().dim()];
        for item in items {
            let row = self.exact(self.raw().items.row(item));
            mean.iter_mut().zip(row).for_each(|(sum, x)| *sum += x / n);
        }
        mean
    }
}

impl Scorer for HistoryScorer<'_> {
    fn n_users(&self) -> usize {
        self.train.n_users()
    }

    fn n_items(&self) -> usize {
        self.scorer.n_items()
    }

    fn query(&self, users: &[u32]) -> Query {
        Query::Vectors(self.vectors(users))
    }

    fn fold_in(&self, histories: &Interactions) -> Query {
        self.scorer.fold_in(histories)
    }

    fn score(&self, query: &Query, items: ItemBlock<'_>, out: &mut Matrix) {
        self.scorer.score(query, items, out);
    }

    fn contributions(&self, history: &[u32], items: &[u32]) -> Matrix {
        self.scorer.contributions(history, items)
    }

    fn reference_scores(&self, user: u32) -> ReferenceScores {
        let (items, history) = (&self.raw().items, self.train.items_of(user));
        let mut query = vec![0.0; self.raw().dim()];
        if !history.is_empty() {
            let centre = self.reference_centre.get_or_init(|| self.exact_mean(0..items.rows()));
            let mean = self.exact_mean(history.iter().map(|&item| item as usize));
            query = mean.iter().zip(centre).map(|(mean, centre)| mean - centre).collect();
        }
        if self.user_weight > 0.0 {
            let own = self.exact(self.raw().users.row(user as usize));
            query.iter_mut().zip(own).for_each(|(x, own)| *x += f64::from(self.user_weight) * own);
        }
        let length = query.iter().map(|x| x * x).sum::<f64>().sqrt();
        let divisor = if self.scorer.score == Score::Cosine && length > 0.0 { length } else { 1.0 };
        let (mut scores, mut longest) = (Vec::with_capacity(items.rows()), 0.0f64);
        for item in 0..items.rows() {
            let row = self.exact(items.row(item));
            longest = longest.max(row.iter().map(|x| x * x).sum::<f64>().sqrt());
            scores.push(query.iter().zip(row).map(|(a, b)| a * b).sum::<f64>() / divisor);
        }
        // A short query is the difference of longer vectors, and carries their rounding errors.
        let rounding = 2.0 * (query.len() + 16) as f64 * f64::from(f32::EPSILON);
        ReferenceScores { scores, rounding: rounding * longest * (length + longest) / divisor }
    }

    fn item_similarity(&self) -> Option<&dyn Scorer> {
        self.scorer.item_similarity()
    }

    fn user_similarity(&self) -> Option<&dyn Scorer> {
        Some(self.user_similarity.get_or_init(|| Similarity::of_rows(&self.users().users)))
    }

    fn embeddings(&self) -> Option<&Embeddings> {
        Some(self.users())
    }

    fn drop_reference(&mut self) {
        self.scorer.drop_reference();
    }
}
