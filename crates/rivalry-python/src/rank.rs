//! From vectors to ranked lists as arrays.

use std::sync::Arc;

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use rivalry::Matrix;
use rivalry::data::Interactions;
use rivalry::eval::{Lists, top_k_lists};

use crate::attend::attend;
use crate::errors::wrong;
use crate::model::Core;

/// Ids and scores, list after list. Places that a list doesn't fill hold -1 and minus infinity.
pub type Ranked<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f32>>);

/// Users that one thread ranks at a time in the library; more threads than such blocks would have nothing to do.
const BLOCK: usize = 256;

/// What is asked for.
pub struct Ranking<'py> {
    /// The length of a list, not more than there are candidates.
    pub n: usize,
    /// How many threads may work on it.
    pub threads: usize,
    /// For each list what it may not hold.
    pub masked: Option<Arc<Interactions>>,
    /// What a list may hold; all if not given.
    pub candidates: Option<PyReadonlyArray1<'py, u32>>,
}

impl<'py> Ranking<'py> {
    /// Ranks the rows of a table of the model for each row of `query`.
    pub fn run(
        self,
        py: Python<'py>,
        query: Matrix,
        core: Arc<Core>,
        table: impl FnOnce(&Core) -> &Matrix + Send + 'static,
    ) -> PyResult<Ranked<'py>> {
        let Self { n, threads, masked, candidates } = self;
        if masked.as_ref().is_some_and(|masked| masked.n_users() != query.rows()) {
            return Err(wrong("there must be one row of liked items for each list"));
        }
        let candidates = candidates.map(|candidates| candidates.to_vec()).transpose()?;
        let threads = if query.rows() <= BLOCK { 1 } else { threads };
        let (ids, scores) = attend(py, threads, move || {
            let table = table(&core);
            let targets: Vec<u32> = (0..query.rows() as u32).collect();
            let Some(candidates) = candidates else {
                let masks: Vec<&Interactions> = masked.iter().map(|masked| &**masked).collect();
                return Ok(flat(&top_k_lists(&query, table, &targets, &masks, n)?, n, |place| place));
            };
            // The candidates make a table of their own, in which they are numbered by their places.
            let table = picked(table, &candidates);
            let masked = masked.map(|masked| renumbered(&masked, &candidates));
            let masks: Vec<&Interactions> = masked.iter().collect();
            let lists = top_k_lists(&query, &table, &targets, &masks, n)?;
            Ok(flat(&lists, n, |place| candidates[place as usize]))
        })?;
        Ok((PyArray1::from_vec(py, ids), PyArray1::from_vec(py, scores)))
    }
}

/// The rows with these ids, in their order.
pub fn picked(table: &Matrix, ids: &[u32]) -> Matrix {
    let mut rows = Matrix::zeros(ids.len(), table.cols());
    for (place, &id) in ids.iter().enumerate() {
        rows.row_lanes_mut(place).copy_from_slice(table.row_lanes(id as usize));
    }
    rows
}

/// The interactions with the candidates (ascending ids), by their places among them.
fn renumbered(masked: &Interactions, candidates: &[u32]) -> Interactions {
    let places =
        masked.pairs().filter_map(|(row, item)| Some((row, candidates.binary_search(&item).ok()? as u32)));
    Interactions::from_pairs(masked.n_users(), candidates.len(), places)
}

fn flat(lists: &Lists, n: usize, id: impl Fn(u32) -> u32) -> (Vec<i64>, Vec<f32>) {
    let rows = lists.users().len();
    let (mut ids, mut scores) = (vec![-1; rows * n], vec![f32::NEG_INFINITY; rows * n]);
    for row in 0..rows {
        for (place, (&item, &score)) in (row * n..).zip(lists.items(row).iter().zip(lists.scores(row))) {
            (ids[place], scores[place]) = (i64::from(id(item)), score);
        }
    }
    (ids, scores)
}
