//! The library's errors as Python exceptions.

use pyo3::PyErr;
use pyo3::exceptions::{PyFloatingPointError, PyOSError, PyRuntimeError, PyValueError};
use rivalry::{Error, Setting};

/// The exception for an error of the library: `ValueError` for invalid input, otherwise what describes the cause best.
pub fn raise(error: Error) -> PyErr {
    let error = error.rename_settings(&argument);
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

/// The argument of `split` or `datasets.load` that sets a setting of the data.
fn argument(setting: Setting<'_>) -> Option<String> {
    let key = setting.key.strip_prefix("data.read.").or_else(|| setting.key.strip_prefix("data.prepare."))?;
    let name = match key.split_once('.') {
        None | Some(("split", "test")) => key.rsplit('.').next().unwrap_or(key),
        Some((section, _)) => section,
    };
    Some(match setting.value {
        None => name.to_owned(),
        Some("true") => format!("{name}=True"),
        Some("false") => format!("{name}=False"),
        Some(number) if number.parse::<f64>().is_ok() => format!("{name}={number}"),
        Some(text) => format!("{name}=\"{text}\""),
    })
}

/// A `ValueError`.
pub fn invalid(text: impl Into<String>) -> PyErr {
    PyValueError::new_err(text.into())
}
