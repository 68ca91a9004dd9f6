//! Which items may be in a list, as Python says it.

use std::sync::Arc;

use numpy::{PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use rivalry::InputError;
use rivalry::ranker::Known;

use crate::errors::raise;
use crate::interactions::Interactions;

/// The fields of [`rivalry::ranker::Filter`] in their order; what is known of users by its name, if any of it is left out.
pub type FilterArgs<'py> = (
    Option<String>,
    Option<Bound<'py, Interactions>>,
    Option<PyReadonlyArray1<'py, u32>>,
    Option<PyReadonlyArray1<'py, u32>>,
);

/// An owned [`rivalry::ranker::Filter`], for work on other threads.
pub struct Filter {
    known: Known,
    exclude: Option<Arc<rivalry::data::Interactions>>,
    allow: Option<Vec<u32>>,
    deny: Vec<u32>,
}

impl TryFrom<FilterArgs<'_>> for Filter {
    type Error = PyErr;

    fn try_from((known, exclude, allow, deny): FilterArgs<'_>) -> PyResult<Self> {
        Ok(Self {
            known: match known {
                Some(name) => name.parse().map_err(|error: InputError| raise(error.into()))?,
                None => Known::Nothing,
            },
            exclude: exclude.map(|exclude| Arc::clone(&exclude.get().table)),
            allow: allow.map(|ids| ids.to_vec()).transpose()?,
            deny: deny.map(|ids| ids.to_vec()).transpose()?.unwrap_or_default(),
        })
    }
}

impl Filter {
    pub fn as_filter(&self) -> rivalry::ranker::Filter<'_> {
        rivalry::ranker::Filter {
            known: self.known,
            exclude: self.exclude.as_deref(),
            allow: self.allow.as_deref(),
            deny: &self.deny,
        }
    }
}
