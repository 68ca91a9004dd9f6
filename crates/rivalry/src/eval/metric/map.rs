//! MAP@K: the mean over the held-out items of the precision at their ranks.
//!
//! `AP@K = Σ_{hits at rank r ≤ K} Precision@r / min(K, #held-out)`; MAP is its mean over users. The divisor is the
//! number of hits the best possible list has, so that this list scores 1.
//!
//! C. D. Manning, P. Raghavan, H. Schütze: *Introduction to Information Retrieval*, chapter 8 (2008).

use super::{Judged, MetricEntry};

pub(super) const ENTRY: MetricEntry = MetricEntry {
    name: "map",
    label: "MAP",
    summary: "mean of the precision at each held-out item's rank",
    measure: average_precision,
};

fn average_precision(list: &Judged<'_>) -> f64 {
    let precisions = list.ranks().zip(1..).map(|(rank, hits)| f64::from(hits) / rank as f64);
    precisions.sum::<f64>() / list.k.min(list.held_out) as f64
}
