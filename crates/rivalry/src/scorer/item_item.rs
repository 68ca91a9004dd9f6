//! Scores that are sums of item-to-item weights over the items of a user.

use std::sync::{Arc, OnceLock};

use super::{ITEMS_AT_ONCE, ItemBlock, Query, ReferenceScores, Scorer};
use crate::Matrix;
use crate::data::Interactions;

/// What each item of a user adds to the scores of all items.
pub(crate) trait ItemWeights: Send + Sync + 'static {
    /// The number of items.
    fn n_items(&self) -> usize;

    /// As [`Scorer::items_at_once`].
    fn items_at_once(&self) -> usize {
        ITEMS_AT_ONCE
    }

    /// Adds what an item contributes to the scores of these items.
    fn add_row(&self, item: u32, to: &ItemBlock<'_>, out: &mut [f32]);
}

/// A row-major matrix: row i is what item i contributes.
pub(crate) struct DenseWeights {
    n: usize,
    values: Arc<Vec<f32>>,
}

impl DenseWeights {
    /// A square matrix of n items.
    pub fn new(n: usize, values: Arc<Vec<f32>>) -> Self {
        assert_eq!(values.len(), n * n, "a square matrix");
        Self { n, values }
    }
}

impl ItemWeights for DenseWeights {
    fn n_items(&self) -> usize {
        self.n
    }

    fn add_row(&self, item: u32, to: &ItemBlock<'_>, out: &mut [f32]) {
        let row = &self.values[item as usize * self.n..][..self.n];
        match to {
            ItemBlock::Range(range) => {
                let row = &row[range.start as usize..range.end as usize];
                out.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            }
            ItemBlock::Ids(ids) => {
                out.iter_mut().zip(*ids).for_each(|(sum, &id)| *sum += row[id as usize]);
            }
        }
    }
}

/// A scorer of item-to-item weights: a user is the set of their items, known or new.
pub(crate) struct ItemItemScorer<W> {
    weights: Arc<W>,
    users: Users,
    similarity: OnceLock<Box<ItemItemScorer<W>>>,
}

/// Whose items the queries are made of.
enum Users {
    /// The users of a training set.
    Train(Interactions),
    /// Each item is a user with that item alone.
    Items,
}

impl<W: ItemWeights> ItemItemScorer<W> {
    /// A scorer for the users of a training set.
    pub fn new(weights: W, train: &Interactions) -> Self {
        Self { weights: Arc::new(weights), users: Users::Train(train.clone()), similarity: OnceLock::new() }
    }

    fn histories(&self, users: &[u32]) -> Interactions {
        match &self.users {
            Users::Train(train) => train.gather_users(users),
            Users::Items => {
                let pairs = users.iter().enumerate().map(|(row, &item)| (row as u32, item));
                Interactions::from_pairs(users.len(), self.n_items(), pairs)
            }
        }
    }
}

impl<W: ItemWeights> Scorer for ItemItemScorer<W> {
    fn n_users(&self) -> usize {
        match &self.users {
            Users::Train(train) => train.n_users(),
            Users::Items => self.n_items(),
        }
    }

    fn n_items(&self) -> usize {
        self.weights.n_items()
    }

    fn items_at_once(&self) -> usize {
        self.weights.items_at_once()
    }

    fn query(&self, users: &[u32]) -> Query {
        Query::Histories(self.histories(users))
    }

    fn fold_in(&self, histories: &Interactions) -> Query {
        Query::Histories(histories.clone())
    }

    fn score(&self, query: &Query, items: ItemBlock<'_>, out: &mut Matrix) {
        let Query::Histories(histories) = query else { panic!("queries of this scorer are histories") };
        out.resize(histories.n_users(), items.len());
        for row in 0..histories.n_users() {
            let scores = out.row_mut(row);
            scores.fill(0.0);
            for &item in histories.items_of(row as u32) {
                self.weights.add_row(item, &items, scores);
            }
        }
    }

    fn reference_scores(&self, user: u32) -> ReferenceScores {
        let n = self.n_items();
        let (mut scores, mut sizes, mut row) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let history = self.histories(&[user]);
        for &item in history.items_of(0) {
            row.fill(0.0);
            self.weights.add_row(item, &ItemBlock::Range(0..n as u32), &mut row);
            for ((score, size), &x) in scores.iter_mut().zip(&mut sizes).zip(&row) {
                *score += f64::from(x);
                *size += f64::from(x.abs());
            }
        }
        let largest = sizes.into_iter().fold(0.0, f64::max);
        ReferenceScores {
            scores,
            rounding: 2.0 * (history.len() + 1) as f64 * f64::from(f32::EPSILON) * largest,
        }
    }

    /// What an item alone adds to the scores of the others.
    fn item_similarity(&self) -> Option<&dyn Scorer> {
        let similarity = self.similarity.get_or_init(|| {
            Box::new(Self { weights: self.weights.clone(), users: Users::Items, similarity: OnceLock::new() })
        });
        Some(&**similarity)
    }
}
