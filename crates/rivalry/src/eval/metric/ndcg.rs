//! NDCG@K: hits discounted by the logarithm of their rank, relative to the best possible list.
//!
//! `DCG@K = Σ_{hits at rank r ≤ K} 1 / log2(r + 1)`; `NDCG@K = DCG@K / Σ_{r = 1}^{min(K, #held-out)} 1 / log2(r + 1)`.
//!
//! K. Järvelin, J. Kekäläinen: *Cumulated gain-based evaluation of IR techniques*, ACM TOIS 20(4), 2002.

use super::{Judged, MetricEntry};

pub(super) const ENTRY: MetricEntry = MetricEntry {
    name: "ndcg",
    label: "NDCG",
    summary: "discounted cumulative gain, normalised by that of the ideal list",
    measure: |list: &Judged<'_>| gain(list.ranks()) / gain(1..=list.k.min(list.held_out)),
};

fn gain(ranks: impl Iterator<Item = usize>) -> f64 {
    ranks.map(|rank| 1.0 / ((rank + 1) as f64).log2()).sum()
}
