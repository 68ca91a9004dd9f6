//! An HNSW index in the file format of USearch.

use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

use crate::memory::MemoryLimit;
use crate::ranker::{Filter, Ranker};
use crate::{Error, InputError, Result};

/// Neighbours of an item in the graph, and items looked at when it is inserted.
const NEIGHBOURS: usize = 32;
const LOOKED_AT: usize = 200;
/// Users by which the recall is measured, and the length of their lists.
const MEASURED: usize = 200;
const MEASURED_AT: usize = 20;

/// The file of an index of a model's items: keys are row numbers, the metric is the inner product. Also the mean share of the
/// exact top 20 that a search with USearch's defaults finds.
///
/// Items are inserted by one thread, so that the file is the same every time.
pub(super) fn index_file(ranker: &Ranker) -> Result<(Vec<u8>, f64)> {
    let items = &ranker.embeddings()?.items;
    // The vectors and the graph, and the same again as the content of the file.
    let bytes = items.rows() * (4 * items.cols() + 16 * NEIGHBOURS) * 2;
    MemoryLimit::default().require(bytes as u64, "the index")?;
    let index = Index::new(&IndexOptions {
        dimensions: items.cols(),
        metric: MetricKind::IP,
        quantization: ScalarKind::F32,
        connectivity: NEIGHBOURS,
        expansion_add: LOOKED_AT,
        ..IndexOptions::default()
    });
    let index = index.map_err(failed)?;
    index.reserve(items.rows()).map_err(failed)?;
    (0..items.rows()).try_for_each(|item| index.add(item as u64, items.row(item))).map_err(failed)?;
    let mut file = vec![0; index.serialized_length()];
    index.save_to_buffer(&mut file).map_err(failed)?;
    Ok((file, recall(ranker, &index)?))
}

fn recall(ranker: &Ranker, index: &Index) -> Result<f64> {
    let users = &ranker.embeddings()?.users;
    let asked: Vec<u32> = (0..users.rows() as u32).step_by((users.rows() / MEASURED).max(1)).collect();
    let exact = ranker.recommend(&asked, MEASURED_AT, &Filter::NONE)?;
    let (mut found, mut wanted) = (0, 0);
    for (list, &user) in asked.iter().enumerate() {
        let near = index.search(users.row(user as usize), MEASURED_AT).map_err(failed)?.keys;
        found += exact.items(list).iter().filter(|&&item| near.contains(&u64::from(item))).count();
        wanted += exact.items(list).len();
    }
    Ok(found as f64 / wanted.max(1) as f64)
}

fn failed(error: impl std::fmt::Display) -> Error {
    InputError::new(format!("USearch can't build the index: {error}")).into()
}
