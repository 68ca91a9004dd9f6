//! A trained model as Python holds it.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rivalry::Matrix;
use rivalry::backbone::Embeddings;
use rivalry::eval::{new_users, unit_rows};
use rivalry::run::SavedModel;
use rivalry::train::Score;

use crate::attend::attend;
use crate::dataset::matrix;
use crate::errors::wrong;
use crate::interactions::Interactions;
use crate::rank::{Ranked, Ranking, picked};

/// The model and what is made of it.
pub struct Core {
    saved: SavedModel,
    /// The tables whose dot products are the scores.
    scored: Embeddings,
    /// Their directions, for likeness; made when first asked for.
    directions: [OnceLock<Matrix>; 2],
}

impl Core {
    /// Makes the scored tables. This may run in parallel, so it is called where threads are.
    pub fn new(saved: SavedModel) -> rivalry::Result<Self> {
        let scored = saved.model()?.scored().clone();
        Ok(Self { saved, scored, directions: Default::default() })
    }

    fn table(&self, of_users: bool) -> &Matrix {
        if of_users { &self.scored.users } else { &self.scored.items }
    }

    fn directions(&self, of_users: bool) -> &Matrix {
        self.directions[usize::from(of_users)].get_or_init(|| unit_rows(self.table(of_users)))
    }
}

/// A trained model.
#[pyclass(frozen, module = "rivalry._rivalry")]
pub struct Model {
    core: Arc<Core>,
}

impl Model {
    pub fn new(core: Core) -> Self {
        Self { core: Arc::new(core) }
    }
}

#[pymethods]
impl Model {
    /// Reads a model file, or the model in a run's folder.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Ok(Self::new(attend(py, 0, move || Core::new(SavedModel::open(&path)?))?))
    }

    /// Reads what a model file holds.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Self> {
        Ok(Self::new(attend(py, 0, move || Core::new(SavedModel::from_bytes(&bytes)?))?))
    }

    /// Writes a model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let core = Arc::clone(&self.core);
        attend(py, 0, move || core.saved.save(&path))
    }

    /// What a model file would hold.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let core = Arc::clone(&self.core);
        Ok(PyBytes::new(py, &attend(py, 0, move || core.saved.to_bytes())?))
    }

    /// The config it was trained with, as JSON.
    #[getter]
    fn config(&self) -> PyResult<String> {
        serde_json::to_string(&self.core.saved.config).map_err(|e| wrong(e.to_string()))
    }

    #[getter]
    fn epoch(&self) -> usize {
        self.core.saved.epoch
    }

    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.core.saved.users.len(), self.core.saved.items.len())
    }

    #[getter]
    fn users(&self) -> Vec<&str> {
        self.core.saved.users.iter().collect()
    }

    #[getter]
    fn items(&self) -> Vec<&str> {
        self.core.saved.items.iter().collect()
    }

    /// The scored table, row after row.
    fn factors<'py>(&self, py: Python<'py>, of_users: bool) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_vec(py, self.core.table(of_users).to_dense())
    }

    /// The `n` best of the items (or of those given) for each user, without those in the user's row of `liked`, or
    /// without all that the model knows of the user if `filter_known`.
    #[pyo3(signature = (users, n, threads, liked=None, filter_known=false, candidates=None))]
    #[expect(clippy::too_many_arguments, reason = "all that a list may depend on")]
    fn recommend<'py>(
        &self,
        py: Python<'py>,
        users: PyReadonlyArray1<'py, u32>,
        n: usize,
        threads: usize,
        liked: Option<&Interactions>,
        filter_known: bool,
        candidates: Option<PyReadonlyArray1<'py, u32>>,
    ) -> PyResult<Ranked<'py>> {
        let users = users.to_vec()?;
        let saved = &self.core.saved;
        if let Some(user) = users.iter().find(|&&user| user as usize >= saved.users.len()) {
            return Err(wrong(format!("user {user} of {} does not exist", saved.users.len())));
        }
        let known = filter_known.then(|| {
            let of = |user: u32| saved.train.items_of(user).iter().chain(saved.held_out.items_of(user));
            let pairs = users.iter().zip(0..).flat_map(|(&user, row)| of(user).map(move |&item| (row, item)));
            Arc::new(rivalry::data::Interactions::from_pairs(users.len(), saved.items.len(), pairs))
        });
        let masked = known.or_else(|| liked.map(|liked| Arc::clone(&liked.table)));
        let query = picked(&self.core.scored.users, &users);
        self.rank(py, query, Ranking { n, threads, masked, candidates })
    }

    /// The same for users that come with their vectors.
    #[pyo3(signature = (vectors, n, threads, liked=None, candidates=None))]
    fn recommend_to<'py>(
        &self,
        py: Python<'py>,
        vectors: PyReadonlyArray2<'py, f32>,
        n: usize,
        threads: usize,
        liked: Option<&Interactions>,
        candidates: Option<PyReadonlyArray1<'py, u32>>,
    ) -> PyResult<Ranked<'py>> {
        let masked = liked.map(|liked| Arc::clone(&liked.table));
        self.rank(py, matrix(&vectors)?, Ranking { n, threads, masked, candidates })
    }

    /// The `n` users or items (or of those given) most like each of `ids`, by cosine; those themselves among them.
    #[pyo3(signature = (of_users, ids, n, threads, candidates=None))]
    fn similar<'py>(
        &self,
        py: Python<'py>,
        of_users: bool,
        ids: PyReadonlyArray1<'py, u32>,
        n: usize,
        threads: usize,
        candidates: Option<PyReadonlyArray1<'py, u32>>,
    ) -> PyResult<Ranked<'py>> {
        let ids = ids.to_vec()?;
        let table = self.core.directions(of_users);
        if let Some(id) = ids.iter().find(|&&id| id as usize >= table.rows()) {
            return Err(wrong(format!("{id} of {} does not exist", table.rows())));
        }
        let core = Arc::clone(&self.core);
        let ranking = Ranking { n, threads, masked: None, candidates };
        ranking.run(py, picked(table, &ids), core, move |core| core.directions(of_users))
    }

    /// Vectors for users that training never saw, one for each row of items they like.
    fn new_users<'py>(&self, py: Python<'py>, baskets: &Interactions) -> PyResult<Bound<'py, PyArray1<f32>>> {
        if baskets.table.n_items() != self.core.saved.items.len() {
            return Err(wrong("the items are not those of the model"));
        }
        let (core, baskets) = (Arc::clone(&self.core), Arc::clone(&baskets.table));
        let unit = core.saved.config.model.score == Score::Cosine;
        let vectors = attend(py, 1, move || Ok(new_users(&core.scored.items, &baskets, unit).to_dense()))?;
        Ok(PyArray1::from_vec(py, vectors))
    }
}

impl Model {
    fn rank<'py>(&self, py: Python<'py>, query: Matrix, ranking: Ranking<'py>) -> PyResult<Ranked<'py>> {
        ranking.run(py, query, Arc::clone(&self.core), |core| &core.scored.items)
    }
}
