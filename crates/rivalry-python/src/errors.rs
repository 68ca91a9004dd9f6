//! The library's errors as Python exceptions.

use pyo3::PyErr;
use pyo3::exceptions::{PyFloatingPointError, PyOSError, PyRuntimeError, PyValueError};
use rivalry::Error;

/// The exception for an error of the library: `ValueError` for invalid input, otherwise what describes the cause best.
/// Settings are named by their config keys; the Python half puts its arguments in their place.
pub fn raise(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Input(_) => PyValueError::new_err(text),
        Error::Io { .. } | Error::Download { .. } => PyOSError::new_err(text),
        Error::NonFinite { .. } => PyFloatingPointError::new_err(format!(
            "{text}\n  help: try a smaller learning_rate or a larger temperature (loss_params={{\"tau\": …}})"
        )),
        Error::NanScore { .. } => PyFloatingPointError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}

/// A `ValueError`.
pub fn invalid(text: impl Into<String>) -> PyErr {
    PyValueError::new_err(text.into())
}
