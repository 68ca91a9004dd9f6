//! Every metric written out from its definition, in plain loops.

use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::data::Interactions;
use crate::eval::{MetricAt, Metrics};
use crate::ranker::RankedLists;

/// Sums of metrics over users.
pub(super) struct Sums {
    pub users: usize,
    sums: Metrics,
}

impl Sums {
    pub fn over(&self, users: usize) -> Metrics {
        let means = self.sums.iter().map(|(&metric, sum)| (metric, sum / users as f64));
        if self.users == 0 { Metrics::default() } else { means.collect() }
    }
}

/// Every metric of every user with held-out items.
pub(super) fn naive_means(lists: &RankedLists, truth: impl Fn(u32) -> BTreeSet<u32>, ks: &[usize]) -> Sums {
    let mut all = Sums { users: 0, sums: Metrics::default() };
    for (n, &user) in lists.queries().iter().enumerate() {
        let truth = truth(user);
        if truth.is_empty() {
            continue;
        }
        all.users += 1;
        for &k in ks {
            let hit: Vec<bool> = lists.items(n).iter().take(k).map(|item| truth.contains(item)).collect();
            for (label, value) in definitions(&hit, truth.len(), k) {
                *all.sums.entry(MetricAt::new(label, k)).or_default() += value;
            }
        }
    }
    all
}

/// The metrics of one list by their definitions.
pub(super) fn definitions(hit: &[bool], relevant: usize, k: usize) -> [(&'static str, f64); 6] {
    let found = hit.iter().filter(|&&hit| hit).count() as f64;
    let best = relevant.min(k);
    let (mut dcg, mut precisions, mut first, mut so_far) = (0.0, 0.0, 0.0, 0.0);
    for (place, _) in hit.iter().enumerate().filter(|&(_, &hit)| hit) {
        let rank = (place + 1) as f64;
        so_far += 1.0;
        dcg += 1.0 / (rank + 1.0).log2();
        precisions += so_far / rank;
        first = if first == 0.0 { 1.0 / rank } else { first };
    }
    let ideal: f64 = (1..=best).map(|rank| 1.0 / (rank as f64 + 1.0).log2()).sum();
    [
        ("Recall", found / relevant as f64),
        ("NDCG", dcg / ideal),
        ("Precision", found / k as f64),
        ("HitRate", if found > 0.0 { 1.0 } else { 0.0 }),
        ("MRR", first),
        ("MAP", precisions / best as f64),
    ]
}

/// Coverage, popularity and Gini by their definitions; Gini as the mean absolute difference over all pairs of items.
pub(super) fn naive_beyond(lists: &RankedLists, train: &Interactions, ks: &[usize]) -> Metrics {
    let n_items = train.n_items();
    let mut values = Metrics::default();
    for &k in ks {
        let mut shown = vec![0.0; n_items];
        let (mut popularity, mut places) = (0.0, 0.0);
        let counts = train.item_counts();
        for n in 0..lists.queries().len() {
            for &item in lists.items(n).iter().take(k) {
                shown[item as usize] += 1.0;
                popularity += f64::from(counts[item as usize]);
                places += 1.0;
            }
        }
        let different = |a: &f64| shown.iter().map(|b| (a - b).abs()).sum::<f64>();
        let spread: f64 = shown.par_iter().map(different).collect::<Vec<f64>>().iter().sum();
        let covered = shown.iter().filter(|&&times| times > 0.0).count();
        values.insert(MetricAt::new("Coverage", k), covered as f64 / n_items as f64);
        values.insert(MetricAt::new("AveragePopularity", k), popularity / f64::max(places, 1.0));
        values.insert(MetricAt::new("Gini", k), spread / (2.0 * n_items as f64 * f64::max(places, 1.0)));
    }
    values
}
