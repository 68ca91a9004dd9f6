//! An HNSW index of a model's items, built by USearch.

use rayon::prelude::*;
use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

use super::Inserting;
use crate::memory::MemoryLimit;
use crate::ranker::{Filter, Ranker};
use crate::{Error, InputError, Matrix, Result};

/// Neighbours of an item in the graph, and items looked at when one is inserted and in a search.
const NEIGHBOURS: usize = 16;
const LOOKED_AT_TO_INSERT: usize = 128;
const LOOKED_AT: usize = 200;
/// Searches that there can be at once, or as many as there are cores if these are more. Each has half a megabyte of its own
/// in a catalogue of a million.
const SEARCHES: usize = 32;
/// Users by which the recall is measured, and the length of their lists.
const MEASURED: usize = 200;
const MEASURED_AT: usize = 20;

/// A graph of a model's items (HNSW) that is searched instead of the whole catalogue.
///
/// It connects items whose dot product is high, because that is what lists are ordered by. The usual reduction to Euclidean
/// distance finds far less where the items differ in length (`docs/src/serving.md`).
pub struct ItemIndex(Index);

impl ItemIndex {
    /// Builds the index of a model's items.
    ///
    /// # Errors
    /// If the model has no embeddings, or the index does not fit into memory.
    pub fn build(ranker: &Ranker, inserting: Inserting) -> Result<Self> {
        Self::of(&ranker.embeddings()?.items, inserting)
    }

    fn of(items: &Matrix, inserting: Inserting) -> Result<Self> {
        let bytes = items.rows() * (4 * items.cols() + 16 * NEIGHBOURS);
        MemoryLimit::default().require(bytes as u64, "the index")?;
        let index = Index::new(&IndexOptions {
            dimensions: items.cols(),
            metric: MetricKind::IP,
            quantization: ScalarKind::F32,
            connectivity: NEIGHBOURS,
            expansion_add: LOOKED_AT_TO_INSERT,
            expansion_search: LOOKED_AT,
            ..IndexOptions::default()
        });
        let index = index.map_err(failed)?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = SEARCHES.max(cores).max(rayon::current_num_threads());
        index.reserve_capacity_and_threads(items.rows(), threads).map_err(failed)?;
        let insert = |item| index.add(item as u64, items.row(item));
        match inserting {
            Inserting::InOrder => (0..items.rows()).try_for_each(insert),
            Inserting::InParallel => (0..items.rows()).into_par_iter().try_for_each(insert),
        }
        .map_err(failed)?;
        Ok(Self(index))
    }

    /// About the `n` items with the highest dot products, best first.
    ///
    /// # Errors
    /// If there are more searches at once than cores, and more than 32, or the query is not as wide as the items.
    pub fn search(&self, query: &[f32], n: usize) -> Result<Vec<u32>> {
        let found = self.0.search(query, n).map_err(failed)?;
        Ok(found.keys.iter().map(|&key| key as u32).collect())
    }

    /// The recall@20 against exact search: the mean share of the exact top 20 of 200 users that it finds.
    ///
    /// # Errors
    /// If `ranker` has no embeddings.
    pub fn recall_at_20(&self, ranker: &Ranker) -> Result<f64> {
        let users = &ranker.embeddings()?.users;
        let asked: Vec<u32> = (0..users.rows() as u32).step_by((users.rows() / MEASURED).max(1)).collect();
        let exact = ranker.recommend(&asked, MEASURED_AT, &Filter::NONE)?;
        let (mut found, mut wanted) = (0, 0);
        for (list, &user) in asked.iter().enumerate() {
            let near = self.search(users.row(user as usize), MEASURED_AT)?;
            found += exact.items(list).iter().filter(|item| near.contains(item)).count();
            wanted += exact.items(list).len();
        }
        Ok(found as f64 / wanted.max(1) as f64)
    }

    /// The content of an index file, which USearch reads in any of its languages. Keys are row numbers.
    pub(super) fn file(&self) -> Result<Vec<u8>> {
        let length = self.0.serialized_length();
        MemoryLimit::default().require(length as u64, "the file of the index")?;
        let mut file = vec![0; length];
        self.0.save_to_buffer(&mut file).map_err(failed)?;
        Ok(file)
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    InputError::new(format!("the HNSW index: {error}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;

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
        let index = ItemIndex::of(&items, Inserting::InParallel).unwrap();
        let mut found = 0;
        for user in 0..users.rows() {
            let score = |item: u32| -> f32 {
                items.row(item as usize).iter().zip(users.row(user)).map(|(x, y)| x * y).sum()
            };
            let mut best: Vec<u32> = (0..items.rows() as u32).collect();
            best.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
            let near = index.search(users.row(user), 20).unwrap();
            found += best[..20].iter().filter(|item| near.contains(item)).count();
        }
        assert!(found > 1800, "{found} of 2000");
    }

    #[test]
    fn a_query_of_zeros_gets_some_items() {
        let items = Matrix::from_fn(100, 8, |row, column| (row + column) as f32);
        let index = ItemIndex::of(&items, Inserting::InOrder).unwrap();
        assert_eq!(index.search(&[0.0; 8], 20).unwrap().len(), 20);
    }

    #[test]
    fn inserted_in_order_the_file_is_the_same_every_time() {
        let mut random = rng::seeded(5);
        let items = Matrix::from_fn(500, 8, |_, _| rng::normal(&mut random)[0]);
        let file = || ItemIndex::of(&items, Inserting::InOrder).unwrap().file().unwrap();
        assert_eq!(file(), file());
    }
}
