//! Data sets: from matrices, by name, split from a log; and evaluation on them.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rivalry::Matrix;
use rivalry::backbone::{Embeddings, Score};
use rivalry::config::{Config, source_layer};
use rivalry::data::{IdMap, LoadOptions, Parts, RawData, RawParts, Records, prepare};
use rivalry::eval::{EvalOptions, EvalPart, Evaluation};
use rivalry::scorer::{EmbeddingScorer, Scorer};

use crate::detached::run_detached;
use crate::errors::{invalid, raise};
use crate::interactions::Interactions;
use crate::lists::parse;

/// Interactions split into training, validation and test sets.
#[pyclass(frozen, module = "rivalry._rivalry")]
pub struct Dataset {
    pub data: Arc<rivalry::data::Dataset>,
}

/// Original ids in the order of rows or columns, if there are any.
type Ids = Option<Vec<String>>;

#[pymethods]
impl Dataset {
    /// A data set of these parts, and the ids of its users and items. Without ids, users and items are identified by their row and column numbers.
    #[new]
    #[pyo3(signature = (name, train, valid=None, test=None, ids=None))]
    fn new(
        name: &str,
        train: &Interactions,
        valid: Option<&Interactions>,
        test: Option<&Interactions>,
        ids: Option<(Ids, Ids)>,
    ) -> PyResult<Self> {
        let (n_users, n_items) = (train.table.n_users(), train.table.n_items());
        let table = |part: Option<&Interactions>| match part {
            Some(part) => (*part.table).clone(),
            None => rivalry::data::Interactions::empty(n_users, n_items),
        };
        let parts = Parts { train: table(Some(train)), valid: table(valid), test: table(test) };
        let (users, items) = ids.unwrap_or_default();
        let (users, items) = (id_map(users, n_users)?, id_map(items, n_items)?);
        let data = rivalry::data::Dataset::new(name, users, items, parts, vec![]).map_err(raise)?;
        Ok(Self { data: Arc::new(data) })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.data.name
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.data.notes.iter().chain(&self.data.warnings).cloned().collect()
    }

    #[getter]
    fn checksum(&self) -> &str {
        &self.data.checksum
    }

    #[getter]
    fn users(&self) -> Vec<&str> {
        self.data.users.iter().collect()
    }

    #[getter]
    fn items(&self) -> Vec<&str> {
        self.data.items.iter().collect()
    }

    #[getter]
    fn train(&self) -> Interactions {
        self.data.train.clone().into()
    }

    #[getter]
    fn valid(&self) -> Interactions {
        self.data.valid.clone().into()
    }

    #[getter]
    fn test(&self) -> Interactions {
        self.data.test.clone().into()
    }
}

impl From<rivalry::data::Dataset> for Dataset {
    fn from(data: rivalry::data::Dataset) -> Self {
        Self { data: Arc::new(data) }
    }
}

/// Loads a data set by name or path. `settings` are those of a config, in JSON.
#[pyfunction]
pub fn load(py: Python<'_>, source: String, settings: &str, data_dir: Option<PathBuf>) -> PyResult<Dataset> {
    let layer: toml::Table = serde_json::from_str(settings).map_err(|e| invalid(format!("settings: {e}")))?;
    let config = Config::from_layers(&[source_layer(&source), layer]).map_err(raise)?;
    let data = run_detached(py, 0, move || {
        let options = LoadOptions { data_dir, ..LoadOptions::default() };
        rivalry::data::load(&config.data, &options, &mut |_| {})
    })?;
    Ok(data.into())
}

/// The columns of a log: users, items, ratings, times.
type Columns<'py> = (
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u32>,
    Option<PyReadonlyArray1<'py, f32>>,
    Option<PyReadonlyArray1<'py, i64>>,
);

/// Splits a log of dense ids. `users` and `items` are original ids, if there are any, and their number; `settings` are
/// those of a config, in JSON.
#[pyfunction]
pub fn split(
    py: Python<'_>,
    name: String,
    users: (Option<Vec<String>>, usize),
    items: (Option<Vec<String>>, usize),
    columns: Columns<'_>,
    settings: &str,
) -> PyResult<Dataset> {
    let preparation = parse(settings, 0)?.data.prepare;
    let (user, item, rating, time) = columns;
    let records = Records {
        user: user.to_vec()?,
        item: item.to_vec()?,
        rating: rating.map(|rating| rating.to_vec()).transpose()?,
        time: time.map(|time| time.to_vec()).transpose()?,
    };
    let (users, items) = (id_map(users.0, users.1)?, id_map(items.0, items.1)?);
    let raw = RawData { users, items, parts: RawParts::Whole(records), notes: vec![], reading: None };
    Ok(run_detached(py, 0, move || prepare(&name, raw, &preparation))?.into())
}

/// An evaluation: the part, the settings of a config in JSON, and whether to return each user's values.
pub type EvaluationArgs = (String, String, bool);

impl Dataset {
    /// Ranks all items by a scorer, which `with_scorer` passes on, and computes metrics of the lists. The result is JSON.
    pub fn evaluate(
        &self,
        py: Python<'_>,
        (part, settings, per_user): EvaluationArgs,
        threads: usize,
        with_scorer: impl FnOnce(&Evaluate<'_>) -> rivalry::Result<Evaluation> + Send + 'static,
    ) -> PyResult<String> {
        let part = eval_part(&part)?;
        let options = EvalOptions { per_user, ..parse(&settings, 0)?.eval };
        let data = Arc::clone(&self.data);
        let evaluation = run_detached(py, threads, move || {
            with_scorer(&|scorer| rivalry::eval::evaluate(scorer, &data, part, &options))
        })?;
        serde_json::to_string(&evaluation).map_err(|e| invalid(e.to_string()))
    }
}

/// The part of that name.
pub fn eval_part(name: &str) -> PyResult<EvalPart> {
    serde_json::from_value(name.into())
        .map_err(|_| invalid(format!("unknown part '{name}'\n  help: known: valid, test")))
}

/// Evaluates a scorer.
type Evaluate<'a> = dyn Fn(&dyn Scorer) -> rivalry::Result<Evaluation> + 'a;

/// Ranks all items by the dot products of these user and item embeddings, and computes metrics of the lists. The result
/// is JSON.
#[pyfunction]
pub fn evaluate(
    py: Python<'_>,
    dataset: &Dataset,
    users: PyReadonlyArray2<'_, f32>,
    items: PyReadonlyArray2<'_, f32>,
    options: EvaluationArgs,
    threads: usize,
) -> PyResult<String> {
    let embeddings = Embeddings { users: matrix(&users)?, items: matrix(&items)? };
    let (of_users, of_items) = (embeddings.users.cols(), embeddings.items.cols());
    if of_users != of_items {
        return Err(invalid(format!(
            "user_factors have dimension {of_users}, and item_factors have dimension {of_items}"
        )));
    }
    dataset.evaluate(py, options, threads, move |evaluate| {
        evaluate(&EmbeddingScorer::new(embeddings, Score::Dot))
    })
}

/// A table from an array.
fn matrix(array: &PyReadonlyArray2<'_, f32>) -> PyResult<Matrix> {
    let [rows, cols] = [array.shape()[0], array.shape()[1]];
    Matrix::from_dense(rows, cols, array.as_slice()?)
        .ok_or_else(|| invalid("expected an array of two dimensions"))
}

fn id_map(given: Option<Vec<String>>, count: usize) -> PyResult<IdMap> {
    match given {
        None => Ok((0..count).map(|id| id.to_string()).collect()),
        Some(ids) => IdMap::try_from_unique(ids).map_err(|id| invalid(format!("the id '{id}' occurs twice"))),
    }
}
