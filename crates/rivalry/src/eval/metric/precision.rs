//! Precision@K: the share of the list that is held-out items.
//!
//! `Precision@K = hits / K`, also where the mask left fewer than K items to recommend.
//!
//! C. D. Manning, P. Raghavan, H. Schütze: *Introduction to Information Retrieval*, chapter 8 (2008).

use super::{Judged, MetricEntry};

pub(super) const ENTRY: MetricEntry = MetricEntry {
    name: "precision",
    label: "Precision",
    summary: "fraction of the list that is held out",
    measure: |list: &Judged<'_>| list.ranks().count() as f64 / list.k as f64,
};
