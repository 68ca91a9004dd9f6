//! MRR@K: how early the first held-out item comes.
//!
//! `MRR@K = 1 / rank of the first hit`, 0 without a hit among the first K.
//!
//! E. M. Voorhees: *The TREC-8 question answering track report*, TREC 1999.

use super::{Judged, MetricEntry};

pub(super) const ENTRY: MetricEntry = MetricEntry {
    name: "mrr",
    label: "MRR",
    summary: "reciprocal rank of the first hit",
    measure: |list: &Judged<'_>| list.ranks().next().map_or(0.0, |rank| 1.0 / rank as f64),
};
