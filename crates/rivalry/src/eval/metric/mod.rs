//! How good one ranked list is: one metric a file, with its formula and where it comes from.

mod hit_rate;
mod map;
mod mrr;
mod ndcg;
mod precision;
mod recall;

use super::MetricAt;

/// One user's list as a metric sees it.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// For each place, best first, whether a held-out item stands there. At most `k` places; fewer if the mask
    /// left fewer items.
    pub hits: &'a [bool],
    /// How many held-out items the user has: at least one.
    pub held_out: usize,
    /// The nominal length of the list.
    pub k: usize,
}

impl Judged<'_> {
    /// The places of the hits, counted from 1.
    fn ranks(&self) -> impl Iterator<Item = usize> + '_ {
        self.hits.iter().zip(1..).filter_map(|(&hit, rank)| hit.then_some(rank))
    }
}

/// A metric of one ranked list, in `0..=1`; the figure reported is its mean over users.
#[derive(Debug)]
pub struct MetricEntry {
    /// The name to ask for it by: `ndcg`.
    pub name: &'static str,
    /// The name in results, before `@K`: `NDCG`.
    pub label: &'static str,
    /// What it measures, in a few words.
    pub summary: &'static str,
    /// Measures one list.
    pub measure: fn(&Judged<'_>) -> f64,
}

/// All metrics.
pub static METRICS: &[MetricEntry] =
    &[recall::ENTRY, ndcg::ENTRY, precision::ENTRY, hit_rate::ENTRY, mrr::ENTRY, map::ENTRY];

pub(super) const NDCG: &str = ndcg::ENTRY.label;
pub(super) const RECALL: &str = recall::ENTRY.label;

impl MetricEntry {
    /// This metric at a cut-off.
    pub fn at(&self, k: usize) -> MetricAt {
        MetricAt::new(self.label, k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_1_for_a_perfect_list_0_for_a_useless_one_and_no_list_hurts() {
        for metric in METRICS {
            let perfect = Judged { hits: &[true; 3], held_out: 3, k: 3 };
            assert!(((metric.measure)(&perfect) - 1.0).abs() < 1e-12, "{}", metric.name);
            for hits in [&[false; 3][..], &[]] {
                assert_eq!((metric.measure)(&Judged { hits, held_out: 5, k: 3 }), 0.0, "{}", metric.name);
            }
        }
    }

    #[test]
    fn every_metric_agrees_with_a_value_worked_out_by_hand() {
        let judged = Judged { hits: &[false, true, true, false], held_out: 3, k: 4 };
        let dcg = 1.0 / 3f64.log2() + 0.5;
        let ideal = 1.0 + 1.0 / 3f64.log2() + 0.5;
        let expected = [
            ("Recall", 2.0 / 3.0),
            ("NDCG", dcg / ideal),
            ("Precision", 0.5),
            ("HitRate", 1.0),
            ("MRR", 0.5),
            ("MAP", (1.0 / 2.0 + 2.0 / 3.0) / 3.0),
        ];
        assert_eq!(METRICS.len(), expected.len());
        for (metric, (label, value)) in METRICS.iter().zip(expected) {
            assert_eq!(metric.label, label);
            assert!(((metric.measure)(&judged) - value).abs() < 1e-12, "{label}");
        }
    }
}
