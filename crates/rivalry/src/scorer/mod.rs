//! The trained model as evaluation, recommendation, inspection and serving see it: a [`Scorer`].

mod embedding;
mod fold_in;
mod history;
mod item_item;
mod packed;
mod similarity;
mod sparse_weights;
mod with_prior;

use std::ops::Range;

pub use embedding::EmbeddingScorer;
pub use fold_in::{fold_in, unit_rows};
pub use history::HistoryScorer;
use item_item::ItemWeights;
pub(crate) use item_item::{DenseWeights, ItemItemScorer};
pub(crate) use sparse_weights::SparseWeights;
pub(crate) use with_prior::with_prior;

use crate::Matrix;
use crate::backbone::Embeddings;
use crate::data::Interactions;

/// Items that are scored at a time, unless a scorer wants otherwise: a whole number of SIMD lanes.
pub(crate) const ITEMS_AT_ONCE: usize = 512;

/// Scores items for users.
///
/// A score has the same bits whichever users and items are scored along with it.
pub trait Scorer: Send + Sync {
    /// The number of users the model was trained on.
    fn n_users(&self) -> usize;

    /// The number of items.
    fn n_items(&self) -> usize;

    /// The number of items that it scores at a time with the least work. Scores and lists don't depend on it.
    fn items_at_once(&self) -> usize {
        ITEMS_AT_ONCE
    }

    /// The queries of known users.
    ///
    /// # Panics
    /// If a user doesn't exist.
    fn query(&self, users: &[u32]) -> Query;

    /// The queries of users that the model has never seen, each computed from the items of that user.
    fn fold_in(&self, histories: &Interactions) -> Query;

    /// Resizes `out` to one row per query and one column per item, and fills in the scores.
    ///
    /// # Panics
    /// If the query was made by another kind of model, or an item doesn't exist.
    fn score(&self, query: &Query, items: ItemBlock<'_>, out: &mut Matrix);

    /// The scores of all items for a known user in `f64`, by the plainest arithmetic there is: the reference that
    /// `evaluate --verify` checks the others against.
    fn reference_scores(&self, user: u32) -> ReferenceScores;

    /// What each item of a new user's history contributes to the scores of some items: one row per item of the history,
    /// ascending and each once, one column per scored item.
    ///
    /// By default this is the score from the whole history minus the score without that item. A scorer whose scores of
    /// new users are sums over the history returns the terms of the sum.
    fn contributions(&self, history: &[u32], items: &[u32]) -> Matrix {
        leave_one_out(self, history, items)
    }

    /// The similarity of items to each other, as a scorer whose users are items; `None` if the model defines none.
    fn item_similarity(&self) -> Option<&dyn Scorer> {
        None
    }

    /// The similarity of users to each other, as a scorer whose items are users; `None` if the model defines none.
    fn user_similarity(&self) -> Option<&dyn Scorer> {
        None
    }

    /// The embeddings whose dot products are the scores, if there are any.
    fn embeddings(&self) -> Option<&Embeddings> {
        None
    }

    /// Frees what only [`reference_scores`](Self::reference_scores) uses; those may then be less exact.
    fn drop_reference(&mut self) {}
}

/// For each item of a history, the scores of some items from the whole history minus those without that item.
fn leave_one_out<S: Scorer + ?Sized>(scorer: &S, history: &[u32], items: &[u32]) -> Matrix {
    let mut history = history.to_vec();
    history.sort_unstable();
    history.dedup();
    let mut ids = items.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let kept = |left_out: usize| history.iter().enumerate().filter(move |&(place, _)| place != left_out);
    // The last row is the whole history: nothing is at its place.
    let rows =
        (0..=history.len() as u32).flat_map(|row| kept(row as usize).map(move |(_, &item)| (row, item)));
    let histories = Interactions::from_pairs(history.len() + 1, scorer.n_items(), rows);
    let mut scores = Matrix::default();
    scorer.score(&scorer.fold_in(&histories), ItemBlock::Ids(&ids), &mut scores);
    let places = items.iter().map(|item| ids.partition_point(|id| id < item)).collect::<Vec<_>>();
    let mut out = Matrix::zeros(history.len(), items.len());
    for row in 0..history.len() {
        for (out, &place) in out.row_mut(row).iter_mut().zip(&places) {
            *out = scores.row(history.len())[place] - scores.row(row)[place];
        }
    }
    out
}

/// Scores in `f64`.
#[derive(Clone, Debug)]
pub struct ReferenceScores {
    /// The score of each item.
    pub scores: Vec<f64>,
    /// How much two scores in `f32` may differ by rounding alone.
    pub rounding: f64,
}

/// What a model scores items by, for a block of users. Which variant it is depends on the model.
#[derive(Clone, Debug)]
pub enum Query {
    /// One vector per user.
    Vectors(Matrix),
    /// The items of each user.
    Histories(Interactions),
    /// The same for that many users.
    Constant(usize),
}

impl Query {
    /// The number of users.
    pub fn len(&self) -> usize {
        match self {
            Self::Vectors(vectors) => vectors.rows(),
            Self::Histories(histories) => histories.n_users(),
            Self::Constant(n) => *n,
        }
    }

    /// Whether there are no users.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The queries of some of the users.
    ///
    /// # Panics
    /// If there are not that many.
    #[must_use]
    pub fn slice(&self, rows: Range<usize>) -> Self {
        match self {
            Self::Vectors(vectors) => {
                let ids: Vec<u32> = (rows.start as u32..rows.end as u32).collect();
                Self::Vectors(vectors.gather(&ids))
            }
            Self::Histories(histories) => Self::Histories(histories.slice_users(rows)),
            Self::Constant(n) => {
                assert!(rows.end <= *n, "{rows:?} of {n} users");
                Self::Constant(rows.len())
            }
        }
    }
}

/// The items to score.
#[derive(Clone, Debug)]
pub enum ItemBlock<'a> {
    /// Consecutive items.
    Range(Range<u32>),
    /// These items, ascending.
    Ids(&'a [u32]),
}

impl ItemBlock<'_> {
    /// The number of items.
    pub fn len(&self) -> usize {
        match self {
            Self::Range(range) => range.len(),
            Self::Ids(ids) => ids.len(),
        }
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The items in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len()).map(|place| match self {
            Self::Range(range) => range.start + place as u32,
            Self::Ids(ids) => ids[place],
        })
    }
}
