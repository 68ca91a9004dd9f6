//! A trained model as Python holds it: a ranker, with arrays in and out.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rivalry::eval::check_held_out;
use rivalry::ranker::{QUERIES, RankedLists, Ranker, Side};
use rivalry::scorer::Query;
use rivalry_runs::run::open_model;

use crate::dataset::{Dataset, EvaluationArgs, eval_part};
use crate::detached::run_detached;
use crate::errors::{invalid, raise};
use crate::filter::{Filter, FilterArgs};
use crate::interactions::Interactions;

/// Ids and scores, list after list. Places that a list doesn't fill hold -1 and minus infinity.
type Ranked<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f32>>);

/// A trained model.
#[pyclass(frozen, module = "rivalry._rivalry")]
pub struct Model {
    ranker: Arc<Ranker>,
}

impl Model {
    pub fn new(ranker: Ranker) -> Self {
        Self { ranker: Arc::new(ranker) }
    }

    /// Ranks on threads of its own and turns the lists into arrays.
    fn rank<'py>(
        &self,
        py: Python<'py>,
        size: Size,
        work: impl FnOnce(&Ranker) -> rivalry::Result<RankedLists> + Send + 'static,
    ) -> PyResult<Ranked<'py>> {
        let Size { lists, n, threads } = size;
        // More threads than blocks of queries would have nothing to do.
        let threads = if lists <= QUERIES { 1 } else { threads };
        let ranker = Arc::clone(&self.ranker);
        let (ids, scores) = run_detached(py, threads, move || Ok(padded(&work(&ranker)?, n)))?;
        Ok((PyArray1::from_vec(py, ids), PyArray1::from_vec(py, scores)))
    }
}

/// The size of a ranking.
struct Size {
    lists: usize,
    n: usize,
    threads: usize,
}

#[pymethods]
impl Model {
    /// Reads a model file, or the model in a run folder.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Ok(Self::new(run_detached(py, 0, move || Ranker::new(open_model(&path)?))?))
    }

    /// Reads the content of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Self> {
        let ranker = run_detached(py, 0, move || Ranker::new(rivalry::model::Model::from_bytes(&bytes)?))?;
        Ok(Self::new(ranker))
    }

    /// Writes a model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let ranker = Arc::clone(&self.ranker);
        run_detached(py, 1, move || ranker.model().save(&path))
    }

    /// The content of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let ranker = Arc::clone(&self.ranker);
        Ok(PyBytes::new(py, &run_detached(py, 1, move || ranker.model().to_bytes())?))
    }

    /// The config it was trained with, as JSON.
    #[getter]
    fn config(&self) -> PyResult<String> {
        serde_json::to_string(&self.ranker.model().config).map_err(|e| invalid(e.to_string()))
    }

    /// The numbers of users and items.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.ranker.model().users.len(), self.ranker.model().items.len())
    }

    /// The original ids of the users.
    #[getter]
    fn users(&self) -> Vec<&str> {
        self.ranker.model().users.iter().collect()
    }

    /// The original ids of the items.
    #[getter]
    fn items(&self) -> Vec<&str> {
        self.ranker.model().items.iter().collect()
    }

    /// The embeddings of users or items, row after row; an error if the model has none.
    fn factors<'py>(&self, py: Python<'py>, of_users: bool) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let embeddings = self.ranker.embeddings().map_err(raise)?;
        let table = if of_users { &embeddings.users } else { &embeddings.items };
        Ok(PyArray1::from_vec(py, table.to_dense()))
    }

    /// The `n` best items for each user.
    fn recommend<'py>(
        &self,
        py: Python<'py>,
        users: PyReadonlyArray1<'py, u32>,
        n: usize,
        filter: FilterArgs<'py>,
        threads: usize,
    ) -> PyResult<Ranked<'py>> {
        let (users, filter) = (users.to_vec()?, Filter::try_from(filter)?);
        let size = Size { lists: users.len(), n, threads };
        self.rank(py, size, move |ranker| ranker.recommend(&users, n, &filter.as_filter()))
    }

    /// The `n` best items for each new user, from a row of the user's items.
    fn recommend_new<'py>(
        &self,
        py: Python<'py>,
        histories: &Interactions,
        n: usize,
        filter: FilterArgs<'py>,
        threads: usize,
    ) -> PyResult<Ranked<'py>> {
        let (histories, filter) = (Arc::clone(&histories.table), Filter::try_from(filter)?);
        let size = Size { lists: histories.n_users(), n, threads };
        self.rank(py, size, move |ranker| ranker.recommend_new(&histories, n, &filter.as_filter()))
    }

    /// The `n` users or items with the highest similarity to each of `ids`. These are candidates, too, unless the filter
    /// leaves out what is known.
    fn similar<'py>(
        &self,
        py: Python<'py>,
        of_users: bool,
        ids: PyReadonlyArray1<'py, u32>,
        n: usize,
        filter: FilterArgs<'py>,
        threads: usize,
    ) -> PyResult<Ranked<'py>> {
        let (ids, filter) = (ids.to_vec()?, Filter::try_from(filter)?);
        let size = Size { lists: ids.len(), n, threads };
        let side = if of_users { Side::Users } else { Side::Items };
        self.rank(py, size, move |ranker| ranker.similar(side, &ids, n, &filter.as_filter()))
    }

    /// The vectors of new users by fold-in, row after row; an error if the model has no embeddings.
    fn fold_in<'py>(&self, py: Python<'py>, histories: &Interactions) -> PyResult<Bound<'py, PyArray1<f32>>> {
        self.ranker.embeddings().map_err(raise)?;
        if histories.table.n_items() != self.ranker.scorer().n_items() {
            return Err(invalid("the items are not those of the model"));
        }
        let (ranker, histories) = (Arc::clone(&self.ranker), Arc::clone(&histories.table));
        match run_detached(py, 1, move || Ok(ranker.scorer().fold_in(&histories)))? {
            Query::Vectors(vectors) => Ok(PyArray1::from_vec(py, vectors.to_dense())),
            Query::Histories(_) | Query::Constant(_) => {
                Err(invalid("the model computes no vectors for new users"))
            }
        }
    }

    /// Ranks all items and computes metrics of the lists. The result is JSON.
    fn evaluate(
        &self,
        py: Python<'_>,
        dataset: &Dataset,
        options: EvaluationArgs,
        threads: usize,
    ) -> PyResult<String> {
        let ranker = Arc::clone(&self.ranker);
        let (model, data) = (ranker.model(), &dataset.data);
        if (model.users.len(), model.items.len()) == (data.users.len(), data.items.len()) {
            check_held_out(model, data, eval_part(&options.0)?).map_err(raise)?;
        }
        dataset.evaluate(py, options, threads, move |evaluate| evaluate(ranker.scorer()))
    }
}

/// The lists one after the other, each filled up to `n` places.
fn padded(lists: &RankedLists, n: usize) -> (Vec<i64>, Vec<f32>) {
    let rows = lists.queries().len();
    let (mut ids, mut scores) = (vec![-1; rows * n], vec![f32::NEG_INFINITY; rows * n]);
    for row in 0..rows {
        for (place, (id, score)) in (row * n..).zip(lists.list(row)) {
            (ids[place], scores[place]) = (i64::from(id), score);
        }
    }
    (ids, scores)
}
