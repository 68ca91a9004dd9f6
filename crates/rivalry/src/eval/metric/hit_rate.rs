//! HitRate@K: whether the list holds any held-out item at all.
//!
//! `HitRate@K = 1 if hits > 0, else 0`.
//!
//! M. Deshpande, G. Karypis: *Item-based top-N recommendation algorithms*, ACM TOIS 22(1), 2004.

use super::{Judged, MetricEntry};

pub(super) const ENTRY: MetricEntry = MetricEntry {
    name: "hitrate",
    label: "HitRate",
    summary: "1 if any held-out item is in the list",
    measure: |list: &Judged<'_>| f64::from(u8::from(list.ranks().next().is_some())),
};
