//! The compiled part of the Python package `rivalry`: library calls with NumPy arrays in and out.
//!
//! The public API (`Recommender`, `evaluate`, `split`…) is Python code in `python/rivalry`; this part knows dense ids only.
//! Settings and results cross the boundary as JSON, so neither side keeps a list of them. Long work runs on threads of its
//! own, without the GIL (see `detached`).
#![forbid(unsafe_code)]

mod auto;
mod dataset;
mod detached;
mod errors;
mod filter;
mod fit;
mod interactions;
mod lists;
mod loss;
mod model;
mod serve;
mod sweep;
mod times;

/// The module `rivalry._rivalry`.
#[pyo3::pymodule]
mod _rivalry {
    #[pymodule_export]
    use super::auto::auto;
    #[pymodule_export]
    use super::dataset::{Dataset, evaluate, load, split};
    #[pymodule_export]
    use super::detached::cores;
    #[pymodule_export]
    use super::fit::fit;
    #[pymodule_export]
    use super::interactions::Interactions;
    #[pymodule_export]
    use super::lists::{column_names, config, datasets, losses, models, optimizers, samplers};
    #[pymodule_export]
    use super::loss::{loss_f32, loss_f64};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::serve::Server;
    #[pymodule_export]
    use super::sweep::{Sweep, train_trial};
    #[pymodule_export]
    use super::times::parse_times;

    /// The release.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "a name in Python")]
    const version: &str = env!("CARGO_PKG_VERSION");
}
