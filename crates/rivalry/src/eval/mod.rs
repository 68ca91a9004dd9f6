//! How good a model is: full ranking over all items (never a sample of them), then metrics of the ranked lists.
//!
//! This room takes final embeddings and a [`Dataset`](crate::data::Dataset) and knows nothing of how either came
//! about. [`evaluate`] does it all; [`top_k_lists`], [`recommend`] and [`similar_items`] give the lists alone. A new
//! metric is one file in `metric/` and one line in [`METRICS`].

mod beyond;
mod bucket;
mod check;
mod evaluate;
mod lists;
mod metric;
mod new_user;
mod options;
mod per_user;
mod rank;
mod recommend;
#[cfg(test)]
mod tests;
mod verify;

pub use bucket::Bucket;
pub use evaluate::{Evaluation, evaluate, evaluate_watched};
pub use lists::Lists;
pub use metric::{Judged, METRICS, MetricEntry, reading_order};
pub use new_user::new_users;
pub use options::{Average, EvalOptions, Mask, Part};
pub use per_user::PerUser;
pub use rank::top_k_lists;
pub use recommend::{recommend, similar_items, unit_rows};
pub use verify::{Raw, Verification, verify};
