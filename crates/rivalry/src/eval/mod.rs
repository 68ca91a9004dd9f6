//! Evaluation by full ranking over all items (never a sample of them), and metrics of the ranked lists.
//!
//! [`evaluate`] takes a [`Scorer`](crate::scorer::Scorer) and a [`Dataset`](crate::data::Dataset) and knows nothing of
//! how either was made. A new metric is one file in `metric/` and one line in [`METRICS`].

mod artefacts;
mod beyond;
mod bucket;
mod check;
mod evaluate;
mod held_out;
mod metric;
mod metrics;
mod options;
mod per_user;
#[cfg(test)]
mod tests;
mod verify;

pub use artefacts::artefacts;
pub use bucket::Bucket;
pub use check::check_held_out;
pub use evaluate::{Evaluation, Ranks, evaluate, evaluate_with_progress};
use held_out::HeldOut;
pub use metric::{Judged, METRICS, MetricEntry};
pub use metrics::{MetricAt, Metrics};
pub use options::{Average, EvalOptions, EvalPart, Mask};
pub use per_user::PerUser;
pub use verify::{Verification, verify};
