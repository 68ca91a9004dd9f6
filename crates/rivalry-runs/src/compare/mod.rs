//! Comparison of methods with a baseline: means over seeds, paired differences, significance tests.
//!
//! The input is finished runs ([`runs_to_compare`], [`FinishedRun`](crate::run::FinishedRun)). Runs that differ only in
//! their seed are one [`Method`] ([`group_by_method`]); runs that are not [comparable](crate::selection) are refused
//! with the difference named. [`evaluate_runs`] evaluates every model
//! and keeps the values of each user; [`compare_to_baseline`] pairs them by user with those of the baseline and tests
//! the differences. [`compare`] does both.
//!
//! ```no_run
//! use rivalry_runs::compare::{CompareOptions, compare, runs_to_compare, group_by_method};
//! use rivalry_runs::run::FinishedRun;
//! # fn main() -> rivalry::Result<()> {
//! let runs = runs_to_compare(&["runs".as_ref()])?;
//! let runs = runs.iter().map(|path| FinishedRun::open(path)).collect::<rivalry::Result<Vec<_>>>()?;
//! let methods = group_by_method(runs)?;
//! let config = &methods[0].runs[0].config;
//! let data = rivalry::data::load(&config.data, &Default::default(), &mut |_| {})?;
//! let comparison = compare(&methods, &data, &CompareOptions::default(), &mut |_| {})?;
//! for method in &comparison.methods {
//!     println!("{}: {:.4}", method.name, method.metrics["NDCG@20"].mean);
//! }
//! # Ok(())
//! # }
//! ```

mod baseline;
mod comparison;
mod evaluate;
mod find;
mod method;
mod name;
mod options;
#[cfg(test)]
mod tests;

pub use baseline::compare_to_baseline;
pub use comparison::{Comparison, Difference, MethodSummary};
pub use evaluate::{EvaluatedMethod, EvaluatedMethods, EvaluatedRun, EvaluationProgress, evaluate_runs};
pub use find::runs_to_compare;
pub use method::{Method, group_by_method};
pub use options::CompareOptions;

use crate::Result;
use rivalry::data::Dataset;

/// Evaluates the methods and compares them with the baseline.
///
/// # Errors
/// If a model can't be read or doesn't fit the data, a metric can't be measured on them, or there is no such baseline.
pub fn compare(
    methods: &[Method],
    dataset: &Dataset,
    options: &CompareOptions,
    progress: &mut dyn FnMut(EvaluationProgress<'_>),
) -> Result<Comparison> {
    let baseline = options.baseline_among(methods)?;
    let evaluated = evaluate_runs(methods, dataset, &options.metrics, progress)?;
    Ok(compare_to_baseline(&evaluated, baseline, &options.metrics, options.bootstrap))
}
