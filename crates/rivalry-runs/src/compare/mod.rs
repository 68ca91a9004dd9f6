//! Which of several methods is better, and is it more than chance?
//!
//! Finished runs come in ([`find_runs`], [`FinishedRun`](crate::run::FinishedRun)). Those that differ in nothing but
//! their seed are one [`Method`] ([`group`]); runs that can't be compared, because their data, split or protocol
//! differ, are refused with the difference named. [`measure`] ranks with every model and keeps each user's values;
//! [`contrast`] pairs them by user against a baseline and says how sure the difference is. [`compare`] does both.
//!
//! ```no_run
//! use rivalry_runs::compare::{Options, compare, find_runs, group};
//! use rivalry_runs::run::FinishedRun;
//! # fn main() -> rivalry::Result<()> {
//! let runs = find_runs(&["runs".as_ref()])?;
//! let runs = runs.iter().map(|path| FinishedRun::open(path)).collect::<rivalry::Result<Vec<_>>>()?;
//! let methods = group(runs)?;
//! let config = &methods[0].runs[0].config;
//! let data = rivalry::data::load(&config.data, &Default::default(), &mut |_| {})?;
//! let comparison = compare(&methods, &data, &Options::default(), &mut |_| {})?;
//! for method in &comparison.methods {
//!     println!("{}: {:.4}", method.name, method.metrics["NDCG@20"].mean);
//! }
//! # Ok(())
//! # }
//! ```

mod comparison;
mod contrast;
mod find;
mod measure;
mod method;
mod name;
mod options;
mod same_terms;
#[cfg(test)]
mod tests;

pub use comparison::{Compared, Comparison, Difference, Terms};
pub use contrast::contrast;
pub use find::find_runs;
pub use measure::{Measured, MeasuredMethod, MeasuredRun, Step, measure};
pub use method::{Method, group};
pub use options::{MetricAt, Options};

use crate::Result;
use rivalry::data::Dataset;

/// Measures the methods and contrasts them with the baseline.
///
/// # Errors
/// If a model can't be read or doesn't fit the data, a metric can't be measured on them, or there is no such baseline.
pub fn compare(
    methods: &[Method],
    dataset: &Dataset,
    options: &Options,
    progress: &mut dyn FnMut(Step<'_>),
) -> Result<Comparison> {
    let baseline = options.baseline_among(methods)?;
    let measured = measure(methods, dataset, &options.metrics, progress)?;
    Ok(contrast(&measured, baseline, &options.metrics, options.bootstrap))
}
