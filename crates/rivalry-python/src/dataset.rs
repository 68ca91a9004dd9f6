//! Data sets: made of matrices, loaded by name, split from a log; and figures of embeddings on them.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rivalry::Matrix;
use rivalry::config::{Config, source_layer};
use rivalry::data::{IdMap, LoadOptions, Parts, RawData, RawParts, Records, prepare};
use rivalry::eval::{EvalOptions, Part};

use crate::attend::attend;
use crate::errors::{raise, wrong};
use crate::interactions::Interactions;
use crate::lists::parse;

/// A set of interactions cut into parts.
#[pyclass(frozen, module = "rivalry._rivalry")]
pub struct Dataset {
    pub data: Arc<rivalry::data::Dataset>,
}

#[pymethods]
impl Dataset {
    /// A data set of these parts. Without ids, users and items are called by their numbers.
    #[new]
    #[pyo3(signature = (name, train, valid=None, test=None, users=None, items=None))]
    fn new(
        name: &str,
        train: &Interactions,
        valid: Option<&Interactions>,
        test: Option<&Interactions>,
        users: Option<Vec<String>>,
        items: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let (n_users, n_items) = (train.table.n_users(), train.table.n_items());
        let part = |part: Option<&Interactions>| match part {
            Some(part) => (*part.table).clone(),
            None => rivalry::data::Interactions::empty(n_users, n_items),
        };
        let parts = Parts { train: (*train.table).clone(), valid: part(valid), test: part(test) };
        let (users, items) = (ids(users, n_users)?, ids(items, n_items)?);
        let data = rivalry::data::Dataset::new(name, users, items, parts, vec![]).map_err(raise)?;
        Ok(Self { data: Arc::new(data) })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.data.name
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.data.notes.clone()
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
    let layer: toml::Table = serde_json::from_str(settings).map_err(|e| wrong(format!("settings: {e}")))?;
    let config = Config::from_layers(&[source_layer(&source), layer]).map_err(raise)?;
    let data = attend(py, 1, move || {
        let options = LoadOptions { data_dir, ..LoadOptions::default() };
        rivalry::data::load(&config.data, &options, &mut |_| {})
    })?;
    Ok(data.into())
}

/// Splits a log of dense ids. `settings` are those of a config, in JSON.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the columns of a log")]
pub fn split(
    py: Python<'_>,
    name: String,
    users: (Option<Vec<String>>, usize),
    items: (Option<Vec<String>>, usize),
    user: PyReadonlyArray1<'_, u32>,
    item: PyReadonlyArray1<'_, u32>,
    rating: Option<PyReadonlyArray1<'_, f32>>,
    time: Option<PyReadonlyArray1<'_, i64>>,
    settings: &str,
) -> PyResult<Dataset> {
    let preparation = parse(settings)?.data.prepare;
    let records = Records {
        user: user.to_vec()?,
        item: item.to_vec()?,
        rating: rating.map(|rating| rating.to_vec()).transpose()?,
        time: time.map(|time| time.to_vec()).transpose()?,
    };
    let (users, items) = (ids(users.0, users.1)?, ids(items.0, items.1)?);
    let raw = RawData { users, items, parts: RawParts::Whole(records), notes: vec![] };
    Ok(attend(py, 1, move || prepare(&name, raw, &preparation))?.into())
}

/// Ranks all items by the dot products of these embeddings and measures the lists. Options and answer are JSON.
#[pyfunction]
pub fn evaluate(
    py: Python<'_>,
    dataset: &Dataset,
    users: PyReadonlyArray2<'_, f32>,
    items: PyReadonlyArray2<'_, f32>,
    part: &str,
    options: &str,
    threads: usize,
) -> PyResult<String> {
    let part: Part = serde_json::from_value(part.into())
        .map_err(|_| wrong(format!("unknown part '{part}'\n  help: known: valid, test")))?;
    let options: EvalOptions = serde_json::from_str(options).map_err(|e| wrong(e.to_string()))?;
    let (users, items, data) = (matrix(&users)?, matrix(&items)?, Arc::clone(&dataset.data));
    let found = attend(py, threads, move || rivalry::eval::evaluate(&users, &items, &data, part, &options))?;
    serde_json::to_string(&found).map_err(|e| wrong(e.to_string()))
}

/// A table from an array.
pub fn matrix(array: &PyReadonlyArray2<'_, f32>) -> PyResult<Matrix> {
    let [rows, cols] = [array.shape()[0], array.shape()[1]];
    Matrix::from_dense(rows, cols, array.as_slice()?).ok_or_else(|| wrong("the array is not a table"))
}

fn ids(given: Option<Vec<String>>, count: usize) -> PyResult<IdMap> {
    match given {
        None => Ok((0..count).map(|id| id.to_string()).collect()),
        Some(ids) => IdMap::try_from_unique(ids).map_err(|id| wrong(format!("the id '{id}' comes twice"))),
    }
}
