//! The compiled half of the Python package `rivalry`: the library's own functions, with NumPy arrays in and out.
//!
//! What people call (`Recommender`, `evaluate`, `split`…) is Python and lives in `python/rivalry`; this half does the
//! work and knows dense ids only. Settings and figures cross the boundary as JSON, so that neither side has a list of
//! them to keep. Everything that takes time runs on threads of its own, without Python's lock (see `attend`).
#![forbid(unsafe_code)]

mod attend;
mod dataset;
mod errors;
mod fit;
mod interactions;
mod lists;
mod loss;
mod model;
mod rank;

/// The module `rivalry._rivalry`.
#[pyo3::pymodule]
mod _rivalry {
    #[pymodule_export]
    use super::dataset::{Dataset, evaluate, load, split};
    #[pymodule_export]
    use super::fit::fit;
    #[pymodule_export]
    use super::interactions::Interactions;
    #[pymodule_export]
    use super::lists::{backbones, config, datasets, losses};
    #[pymodule_export]
    use super::loss::{loss_f32, loss_f64};
    #[pymodule_export]
    use super::model::Model;

    /// The release.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "a name in Python")]
    const version: &str = env!("CARGO_PKG_VERSION");
}
