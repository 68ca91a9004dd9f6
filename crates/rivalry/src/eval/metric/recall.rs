//! Recall@K: the share of the held-out items that made it into the list.
//!
//! `Recall@K = hits / #held-out`. A user with more than K held-out items can't reach 1; dividing by
//! `min(K, #held-out)` instead is another metric, which some libraries call by this name.
//!
//! C. D. Manning, P. Raghavan, H. Schütze: *Introduction to Information Retrieval*, chapter 8 (2008).

use super::{Judged, MetricEntry};

pub(super) const ENTRY: MetricEntry = MetricEntry {
    name: "recall",
    label: "Recall",
    summary: "fraction of the held-out items in the list",
    measure: |list: &Judged<'_>| list.ranks().count() as f64 / list.held_out as f64,
};
