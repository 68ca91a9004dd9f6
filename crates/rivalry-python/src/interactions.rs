//! Interactions from sparse matrices, and back.

use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::errors::invalid;

/// Interactions of users with items, by dense ids.
#[pyclass(frozen, module = "rivalry._rivalry")]
pub struct Interactions {
    pub table: Arc<rivalry::data::Interactions>,
}

#[pymethods]
impl Interactions {
    #[new]
    fn new(
        indptr: PyReadonlyArray1<'_, i64>,
        indices: PyReadonlyArray1<'_, u32>,
        n_items: u32,
    ) -> PyResult<Self> {
        let (indptr, indices) = (indptr.as_slice()?, indices.as_slice()?);
        let whole = indptr.first() == Some(&0) && indptr.last() == Some(&(indices.len() as i64));
        if !whole || !indptr.is_sorted() || indptr.len() > u32::MAX as usize {
            return Err(invalid("the row pointers of the matrix don't match its indices"));
        }
        if let Some(item) = indices.iter().find(|&&item| item >= n_items) {
            return Err(invalid(format!(
                "the matrix has the column index {item}, but only {n_items} columns"
            )));
        }
        let rows = indptr.windows(2).zip(0..).flat_map(|(ends, user)| {
            indices[ends[0] as usize..ends[1] as usize].iter().map(move |&item| (user, item))
        });
        let table = rivalry::data::Interactions::from_pairs(indptr.len() - 1, n_items as usize, rows);
        Ok(Self { table: Arc::new(table) })
    }

    /// Row pointers and column indices.
    fn to_csr<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>) {
        let rows = (0..self.table.n_users() as u32).scan(0, |end, user| {
            *end += self.table.items_of(user).len() as i64;
            Some(*end)
        });
        let indptr = std::iter::once(0).chain(rows).collect();
        let indices = self.table.pairs().map(|(_, item)| item as i32).collect();
        (PyArray1::from_vec(py, indptr), PyArray1::from_vec(py, indices))
    }

    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.table.n_users(), self.table.n_items())
    }

    fn __len__(&self) -> usize {
        self.table.len()
    }
}

impl From<rivalry::data::Interactions> for Interactions {
    fn from(table: rivalry::data::Interactions) -> Self {
        Self { table: Arc::new(table) }
    }
}
