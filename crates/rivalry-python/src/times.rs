//! Timestamps as text.

use numpy::PyArray1;
use pyo3::prelude::*;
use rivalry::data::read::parse_time;

use crate::errors::invalid;

/// Parses timestamps as the readers of files do: numbers, or ISO 8601 dates with or without a time and an offset. The
/// error names the row, counted from 0.
#[pyfunction]
pub fn parse_times(py: Python<'_>, texts: Vec<String>) -> PyResult<Bound<'_, PyArray1<i64>>> {
    let parsed = texts.iter().enumerate().map(|(row, text)| {
        parse_time(text.trim()).ok_or_else(|| {
            invalid(format!(
                "row {row}: '{text}' is not a timestamp\n  help: write seconds or 2024-05-01T12:30:00Z"
            ))
        })
    });
    Ok(PyArray1::from_vec(py, parsed.collect::<PyResult<_>>()?))
}
