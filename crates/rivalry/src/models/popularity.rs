//! Popularity: every user is recommended the items with the most training interactions. The baseline that everything
//! else must beat.

use super::{ClosedForm, Entry, FitContext, Kind};
use crate::data::Interactions;
use crate::scorer::{ItemBlock, Query, ReferenceScores, Scorer};
use crate::tensors::Tensors;
use crate::{Matrix, Result};

pub(super) const POPULARITY: Entry = Entry {
    name: "popularity",
    summary: "most popular items: ranks by number of training interactions",
    params: &[],
    build: Kind::ClosedForm(|_| Box::new(Popularity)),
};

/// The name of the one tensor.
const COUNTS: &str = "counts";

struct Popularity;

impl ClosedForm for Popularity {
    fn memory(&self, train: &Interactions) -> u64 {
        train.n_items() as u64 * 8
    }

    fn fit(&self, train: &Interactions, _: &mut FitContext<'_>) -> Result<Option<Tensors>> {
        let mut tensors = Tensors::default();
        tensors.put_u32(COUNTS, &train.item_counts());
        Ok(Some(tensors))
    }

    fn scorer(&self, tensors: &Tensors, train: &Interactions) -> Result<Box<dyn Scorer>> {
        let counts = tensors.get_u32(COUNTS, train.n_items())?;
        Ok(Box::new(PopularityScorer { counts, n_users: train.n_users() }))
    }
}

/// The score of an item is its number of training interactions.
struct PopularityScorer {
    counts: Vec<u32>,
    n_users: usize,
}

impl Scorer for PopularityScorer {
    fn n_users(&self) -> usize {
        self.n_users
    }

    fn n_items(&self) -> usize {
        self.counts.len()
    }

    fn query(&self, users: &[u32]) -> Query {
        Query::Constant(users.len())
    }

    fn fold_in(&self, histories: &Interactions) -> Query {
        Query::Constant(histories.n_users())
    }

    fn score(&self, query: &Query, items: ItemBlock<'_>, out: &mut Matrix) {
        out.resize(query.len(), items.len());
        for row in 0..query.len() {
            for (score, item) in out.row_mut(row).iter_mut().zip(items.iter()) {
                *score = self.counts[item as usize] as f32;
            }
        }
    }

    fn reference_scores(&self, _: u32) -> ReferenceScores {
        // Counts are exact in both precisions, up to 2²⁴.
        ReferenceScores { scores: self.counts.iter().map(|&count| f64::from(count)).collect(), rounding: 0.0 }
    }
}
