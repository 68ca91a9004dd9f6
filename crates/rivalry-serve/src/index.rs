//! Lists by an approximate index, instead of a search of the whole catalogue.
//!
//! What the index finds is scored exactly, so scores are those of exact search, and only which items are found is approximate.
//! The recall is measured when the index is built. Several threads insert the items, so that what is found may differ from
//! one load to the next.

use rivalry::Result;
use rivalry::data::Interactions;
use rivalry::ranker::{Filter, Ranker};
use rivalry::vectors::{Inserting, ItemIndex};

use crate::compute::UserTask;
use crate::served::List;

/// The index of a model's items.
pub(crate) struct Index {
    items: ItemIndex,
    /// The mean share of the exact top 20 that it finds.
    pub recall_at_20: f64,
}

impl Index {
    /// Builds the index of a model and measures it; `None` if the model has no embeddings.
    pub fn build(ranker: &Ranker) -> Result<Option<Self>> {
        if ranker.scorer().embeddings().is_none() {
            return Ok(None);
        }
        let items = ItemIndex::build(ranker, Inserting::InParallel)?;
        Ok(Some(Self { recall_at_20: items.recall_at_20(ranker)?, items }))
    }

    /// The list of a user: exactly `n` items, from exact search where the index doesn't find enough.
    pub fn user(&self, ranker: &Ranker, task: &UserTask) -> Result<List> {
        let model = ranker.model();
        let seen = model.train.items_of(task.user).len() + model.held_out.items_of(task.user).len();
        let wanted = task.n + seen + task.exclude.len();
        let exclude = task.exclude.iter().map(|&item| (0, item));
        let exclude = Interactions::from_pairs(1, model.items.len(), exclude);
        let filter = Filter { exclude: (!exclude.is_empty()).then_some(&exclude), ..Filter::default() };
        let near = || self.items.search(ranker.embeddings()?.users.row(task.user as usize), wanted);
        // An index that has too many searches at once answers with an error.
        if let (true, Ok(mut near)) = (wanted < model.items.len(), near()) {
            near.sort_unstable();
            near.dedup();
            let lists = ranker.recommend(&[task.user], task.n, &Filter { allow: Some(&near), ..filter })?;
            if lists.items(0).len() == task.n {
                return Ok(lists.list(0).collect());
            }
        }
        Ok(ranker.recommend(&[task.user], task.n, &filter)?.list(0).collect())
    }
}
