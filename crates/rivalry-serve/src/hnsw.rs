//! An approximate index: a graph of near items (HNSW), searched instead of the whole catalogue.
//!
//! What the graph finds is scored exactly, so scores are those of exact search, and only which items are found is
//! approximate. The recall is measured when the index is built. The graph is built by several threads, so that which items it
//! finds may differ from one load to the next.

use hnsw_rs::prelude::{DistL2, Hnsw};
use rivalry::backbone::Embeddings;
use rivalry::data::Interactions;
use rivalry::ranker::{Filter, Ranker};
use rivalry::{Matrix, Result};

use crate::compute::UserTask;
use crate::served::List;

/// Neighbours of an item in the graph, and items looked at when it is inserted.
const NEIGHBOURS: usize = 24;
const LOOKED_AT: usize = 200;
/// Layers of the graph.
const LAYERS: usize = 16;
/// Items inserted at a time.
const BLOCK: usize = 4096;
/// Users by which the recall is measured, and the length of their lists.
const MEASURED: usize = 200;
const MEASURED_AT: usize = 20;

/// The graph of a model's items.
pub(crate) struct Index {
    graph: Hnsw<'static, f32, DistL2>,
    recall: f64,
}

impl Index {
    /// Builds the index of a model and measures it; `None` if the model has no embeddings.
    pub fn build(ranker: &Ranker) -> Result<Option<Self>> {
        let Some(embeddings) = ranker.scorer().embeddings() else { return Ok(None) };
        let items = &embeddings.items;
        let graph = Hnsw::new(NEIGHBOURS, items.rows(), LAYERS, LOOKED_AT, DistL2 {});
        let longest = (0..items.rows()).map(|item| squared_length(items.row(item))).fold(0.0, f32::max);
        for start in (0..items.rows()).step_by(BLOCK) {
            let block: Vec<(Vec<f32>, usize)> = (start..(start + BLOCK).min(items.rows()))
                .map(|item| (lifted(items.row(item), longest), item))
                .collect();
            graph.parallel_insert_slice(&block.iter().map(|(row, item)| (&row[..], *item)).collect());
        }
        let mut index = Self { graph, recall: 0.0 };
        index.recall = index.measured(ranker, embeddings)?;
        Ok(Some(index))
    }

    /// The mean share of the exact top 20 that it finds.
    pub fn recall(&self) -> f64 {
        self.recall
    }

    fn measured(&self, ranker: &Ranker, embeddings: &Embeddings) -> Result<f64> {
        let step = (embeddings.users.rows() / MEASURED).max(1);
        let users: Vec<u32> = (0..embeddings.users.rows() as u32).step_by(step).collect();
        let exact = ranker.recommend(&users, MEASURED_AT, &Filter::NONE)?;
        let mut found = 0;
        for (list, &user) in users.iter().enumerate() {
            let near = self.near(&embeddings.users, user, MEASURED_AT);
            found += exact.items(list).iter().filter(|&item| near.contains(item)).count();
        }
        Ok(found as f64 / (users.len() * MEASURED_AT.min(embeddings.items.rows())) as f64)
    }

    /// About the `n` best items of a user.
    fn near(&self, users: &Matrix, user: u32, n: usize) -> Vec<u32> {
        let query: Vec<f32> = users.row(user as usize).iter().copied().chain([0.0]).collect();
        let found = self.graph.search(&query, n, (2 * n).max(LOOKED_AT));
        found.into_iter().map(|neighbour| neighbour.d_id as u32).collect()
    }

    /// The list of a user: exactly `n` items, from exact search where the graph doesn't find enough.
    pub fn user(&self, ranker: &Ranker, task: &UserTask) -> Result<List> {
        let model = ranker.model();
        let seen = model.train.items_of(task.user).len() + model.held_out.items_of(task.user).len();
        let wanted = task.n + seen + task.exclude.len();
        let exclude = task.exclude.iter().map(|&item| (0, item));
        let exclude = Interactions::from_pairs(1, model.items.len(), exclude);
        let filter = Filter { exclude: Some(&exclude), ..Filter::default() };
        if wanted < model.items.len() {
            let mut near = self.near(&ranker.embeddings()?.users, task.user, wanted);
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

/// The vector with one more number that makes all vectors equally long: then the nearest to a query, which gets a zero
/// there, has the highest dot product with it.
fn lifted(row: &[f32], longest: f32) -> Vec<f32> {
    let missing = (longest - squared_length(row)).max(0.0).sqrt();
    row.iter().copied().chain([missing]).collect()
}

fn squared_length(row: &[f32]) -> f32 {
    row.iter().map(|x| x * x).sum()
}
