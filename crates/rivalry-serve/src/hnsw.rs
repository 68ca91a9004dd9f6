//! An approximate index: a graph of near items (HNSW), searched instead of the whole catalogue.
//!
//! Near is what has a high dot product, between items as between a user and an item. The usual reduction to Euclidean distance
//! (one more coordinate that makes all items equally long) finds far less where the items differ in length: a recall@20 of 0.59
//! instead of 0.99 on 50,000 items of `ials`, with the same graph parameters (`docs/src/serving.md`).
//!
//! What the graph finds is scored exactly, so scores are those of exact search, and only which items are found is
//! approximate. The recall is measured when the index is built. The graph is built by several threads, so that which items it
//! finds may differ from one load to the next.

use hnsw_rs::prelude::{Distance, Hnsw};
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
    graph: Hnsw<'static, f32, Missing>,
    recall: f64,
}

impl Index {
    /// Builds the index of a model and measures it; `None` if the model has no embeddings.
    pub fn build(ranker: &Ranker) -> Result<Option<Self>> {
        let Some(embeddings) = ranker.scorer().embeddings() else { return Ok(None) };
        let mut index = Self { graph: graph_of(&embeddings.items), recall: 0.0 };
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
        // A query as long as the longest item: the order is the same, and no distance is negative.
        let query = users.row(user as usize);
        let scale = (self.graph.get_distance().longest / squared_length(query)).sqrt();
        let scale = if scale.is_finite() { scale } else { 0.0 };
        let query: Vec<f32> = query.iter().map(|x| x * scale).collect();
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

fn graph_of(items: &Matrix) -> Hnsw<'static, f32, Missing> {
    let longest = (0..items.rows()).map(|item| squared_length(items.row(item))).fold(0.0, f32::max);
    let graph = Hnsw::new(NEIGHBOURS, items.rows(), LAYERS, LOOKED_AT, Missing { longest });
    for start in (0..items.rows()).step_by(BLOCK) {
        let block = start..(start + BLOCK).min(items.rows());
        graph.parallel_insert_slice(&block.map(|item| (items.row(item), item)).collect());
    }
    graph
}

/// What a dot product lacks of the largest one that there can be. The graph wants a distance that is never negative.
#[derive(Clone)]
struct Missing {
    /// The squared length of the longest item.
    longest: f32,
}

impl Distance<f32> for Missing {
    fn eval(&self, a: &[f32], b: &[f32]) -> f32 {
        // Sixteen sums, so that the compiler can add them side by side.
        let mut sums = [0.0; 16];
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
        for (a, b) in a.iter().zip(b) {
            for ((sum, x), y) in sums.iter_mut().zip(a).zip(b) {
                *sum += x * y;
            }
        }
        let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
        (self.longest - sums.iter().sum::<f32>() - rest).max(0.0)
    }
}

fn squared_length(row: &[f32]) -> f32 {
    row.iter().map(|x| x * x).sum()
}

#[cfg(test)]
mod tests {
    use rivalry::rng;

    use super::*;

    #[test]
    fn items_of_different_lengths_are_found() {
        let mut random = rng::seeded(3);
        let mut normal = |_, _| rng::normal(&mut random)[0];
        let mut items = Matrix::from_fn(10_000, 32, &mut normal);
        let users = Matrix::from_fn(100, 32, &mut normal);
        for item in 0..items.rows() {
            let length = items.row(item)[0].exp();
            items.row_mut(item).iter_mut().for_each(|x| *x *= length);
        }
        let index = Index { graph: graph_of(&items), recall: 0.0 };
        let mut found = 0;
        for user in 0..users.rows() {
            let score = |item: u32| -> f32 {
                items.row(item as usize).iter().zip(users.row(user)).map(|(x, y)| x * y).sum()
            };
            let mut best: Vec<u32> = (0..items.rows() as u32).collect();
            best.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
            let near = index.near(&users, user as u32, 20);
            found += best[..20].iter().filter(|item| near.contains(item)).count();
        }
        assert!(found > 1800, "{found} of 2000");
    }

    #[test]
    fn a_user_of_zeros_gets_some_items() {
        let items = Matrix::from_fn(100, 8, |row, column| (row + column) as f32);
        let index = Index { graph: graph_of(&items), recall: 0.0 };
        assert_eq!(index.near(&Matrix::zeros(1, 8), 0, 20).len(), 20);
    }
}
