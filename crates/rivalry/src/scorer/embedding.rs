//! Scores that are dot products of embeddings.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use rivalry_kernels::Lane;

use super::fold_in::{fold_in_from, mean};
use super::packed::{dots, pack};
use super::similarity::Similarity;
use super::{ItemBlock, Query, ReferenceScores, Scorer, leave_one_out};
use crate::Matrix;
use crate::backbone::{Embeddings, Score, Unit};
use crate::data::Interactions;

/// Vectors of new users from the scored item embeddings and the items of each user.
type FoldIn = dyn Fn(&Matrix, &Interactions) -> Matrix + Send + Sync;

/// A scorer whose scores are dot products, or cosines, of embeddings.
pub struct EmbeddingScorer<'a> {
    tables: Arc<Tables<'a>>,
    /// The embeddings before they were scaled to length one, where the score is the cosine and they were not already.
    pub(super) raw: Option<Embeddings>,
    pub(super) score: Score,
    /// Makes vectors of new users, where the model has a way of its own.
    fold_in: Option<Box<FoldIn>>,
    /// The mean of the item embeddings, for new users.
    centre: OnceLock<Vec<f64>>,
    /// The lengths of the item embeddings in `f64`, for reference scores.
    item_norms: OnceLock<Vec<f64>>,
    item_similarity: OnceLock<Similarity<'a>>,
    user_similarity: OnceLock<Similarity<'a>>,
}

/// The embeddings whose dot products are the scores, shared with the similarity of the items.
pub(super) struct Tables<'a> {
    pub scored: Cow<'a, Embeddings>,
    /// The item embeddings, packed for products with many queries or with one.
    pub panels: Vec<Lane>,
}

impl EmbeddingScorer<'static> {
    /// A scorer of these embeddings.
    pub fn new(embeddings: Embeddings, score: Score) -> Self {
        match score {
            Score::Dot => Self::of(Cow::Owned(embeddings), None, score),
            Score::Cosine => {
                let mut unit = Unit::like(&embeddings);
                unit.set(&embeddings);
                Self::of(Cow::Owned(unit.embeddings), Some(embeddings), score)
            }
        }
    }
}

impl<'a> EmbeddingScorer<'a> {
    /// A scorer of embeddings that are as they are scored: of length one where the score is the cosine.
    pub fn scored(scored: &'a Embeddings, score: Score) -> Self {
        Self::of(Cow::Borrowed(scored), None, score)
    }

    /// The same scorer with another way to make vectors of new users: from the scored item embeddings and the items of
    /// each user.
    #[must_use]
    pub fn with_fold_in(
        self,
        fold_in: impl Fn(&Matrix, &Interactions) -> Matrix + Send + Sync + 'static,
    ) -> Self {
        Self { fold_in: Some(Box::new(fold_in)), ..self }
    }

    fn of(scored: Cow<'a, Embeddings>, raw: Option<Embeddings>, score: Score) -> Self {
        let panels = pack(&scored.items);
        Self {
            tables: Arc::new(Tables { scored, panels }),
            raw,
            score,
            fold_in: None,
            centre: OnceLock::new(),
            item_norms: OnceLock::new(),
            item_similarity: OnceLock::new(),
            user_similarity: OnceLock::new(),
        }
    }

    pub(super) fn embeddings(&self) -> &Embeddings {
        &self.tables.scored
    }

    pub(super) fn centre(&self) -> &[f64] {
        let items = &self.embeddings().items;
        self.centre.get_or_init(|| mean(items, &Vec::from_iter(0..items.rows() as u32)))
    }
}

impl Scorer for EmbeddingScorer<'_> {
    fn n_users(&self) -> usize {
        self.embeddings().users.rows()
    }

    fn n_items(&self) -> usize {
        self.embeddings().items.rows()
    }

    fn query(&self, users: &[u32]) -> Query {
        Query::Vectors(self.embeddings().users.gather(users))
    }

    fn fold_in(&self, histories: &Interactions) -> Query {
        let items = &self.embeddings().items;
        Query::Vectors(match &self.fold_in {
            Some(fold_in) => fold_in(items, histories),
            None => fold_in_from(items, self.centre(), histories, self.score == Score::Cosine),
        })
    }

    fn score(&self, query: &Query, items: ItemBlock<'_>, out: &mut Matrix) {
        let Query::Vectors(vectors) = query else { panic!("queries of this scorer are vectors") };
        dots(vectors, &self.embeddings().items, &self.tables.panels, items, out);
    }

    /// The vector of a new user is a mean over the history, so a score is a sum over it.
    fn contributions(&self, history: &[u32], items: &[u32]) -> Matrix {
        if self.fold_in.is_some() {
            return leave_one_out(self, history, items);
        }
        let table = &self.embeddings().items;
        let histories = Interactions::from_pairs(1, table.rows(), history.iter().map(|&item| (0, item)));
        let history = histories.items_of(0);
        let centre = self.centre();
        let length = match self.score {
            Score::Dot => 1.0,
            Score::Cosine => {
                let of_user = mean(table, history);
                of_user.iter().zip(centre).map(|(x, centre)| (x - centre).powi(2)).sum::<f64>().sqrt()
            }
        };
        let divisor = history.len() as f64 * if length > 0.0 { length } else { 1.0 };
        let mut out = Matrix::zeros(history.len(), items.len());
        for (row, &of_user) in history.iter().enumerate() {
            let of_user = table.row(of_user as usize);
            for (place, &item) in out.row_mut(row).iter_mut().zip(items) {
                let products = of_user.iter().zip(centre).zip(table.row(item as usize));
                let sum: f64 =
                    products.map(|((&x, centre), &y)| (f64::from(x) - centre) * f64::from(y)).sum();
                *place = (sum / divisor) as f32;
            }
        }
        out
    }

    fn reference_scores(&self, user: u32) -> ReferenceScores {
        let Embeddings { users, items } = self.raw.as_ref().unwrap_or_else(|| self.embeddings());
        let norms =
            self.item_norms.get_or_init(|| (0..items.rows()).map(|item| norm(items.row(item))).collect());
        let query = users.row(user as usize);
        let cosine = self.score == Score::Cosine;
        let divisor = |norm: f64| if cosine && norm > 0.0 { norm } else { 1.0 };
        let query_divisor = divisor(norm(query));
        let score = |(item, &norm): (usize, &f64)| {
            let products = query.iter().zip(items.row(item)).map(|(&a, &b)| f64::from(a) * f64::from(b));
            products.sum::<f64>() / (query_divisor * divisor(norm))
        };
        let longest = if cosine { 1.0 } else { norms.iter().copied().fold(0.0, f64::max) };
        let length = norm(query) / query_divisor * longest;
        ReferenceScores {
            scores: norms.iter().enumerate().map(score).collect(),
            rounding: 2.0 * (query.len() + 16) as f64 * f64::from(f32::EPSILON) * length,
        }
    }

    fn item_similarity(&self) -> Option<&dyn Scorer> {
        Some(self.item_similarity.get_or_init(|| match self.score {
            Score::Cosine => Similarity::of_scored_items(Arc::clone(&self.tables)),
            Score::Dot => Similarity::of_rows(&self.embeddings().items),
        }))
    }

    fn user_similarity(&self) -> Option<&dyn Scorer> {
        Some(self.user_similarity.get_or_init(|| match self.score {
            Score::Cosine => Similarity::of_scored_users(Arc::clone(&self.tables)),
            Score::Dot => Similarity::of_rows(&self.embeddings().users),
        }))
    }

    fn embeddings(&self) -> Option<&Embeddings> {
        Some(&self.tables.scored)
    }

    fn drop_reference(&mut self) {
        self.raw = None;
    }
}

pub(super) fn norm(row: &[f32]) -> f64 {
    row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt()
}
