//! Summaries of many values.

use super::{Distribution, Histogram};
use crate::stats::{MeanStd, quantile};

/// The number of bins of a histogram.
const BINS: usize = 40;

impl Distribution {
    /// The distribution of these values.
    ///
    /// # Panics
    /// If there are none.
    pub fn of(mut values: Vec<f64>) -> Self {
        let MeanStd { mean, deviation } = MeanStd::of(&values);
        values.sort_unstable_by(f64::total_cmp);
        Self {
            mean,
            deviation: deviation.unwrap_or(0.0),
            quantiles: [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0].map(|share| quantile(&values, share)),
            histogram: Histogram::of(&values),
        }
    }
}

impl Histogram {
    /// Bins of equal width from the minimum to the maximum of ascending values; a single one if all are equal.
    fn of(ascending: &[f64]) -> Self {
        let (low, high) = (ascending[0], ascending[ascending.len() - 1]);
        let width = (high - low) / BINS as f64;
        // Values that differ only in their last digits leave no room for edges between them.
        if width <= 1e-12 * high.abs().max(low.abs()) {
            let margin = if low == 0.0 { 0.5 } else { 0.5 * low.abs() };
            return Self { edges: vec![low - margin, high + margin], counts: vec![ascending.len()] };
        }
        let mut edges: Vec<f64> = (0..BINS).map(|bin| low + width * bin as f64).collect();
        edges.push(high);
        let ends = edges[1..BINS].iter().map(|&edge| ascending.partition_point(|&x| x < edge));
        let mut counts = Vec::with_capacity(BINS);
        let mut before = 0;
        for end in ends.chain([ascending.len()]) {
            counts.push(end - before);
            before = end;
        }
        Self { edges, counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_counted_once_and_the_last_edge_belongs_to_the_last_bin() {
        let values: Vec<f64> = (0..=80).map(f64::from).collect();
        let found = Distribution::of(values);
        assert_eq!(
            (found.mean, found.quantiles[0], found.quantiles[3], found.quantiles[6]),
            (40.0, 0.0, 40.0, 80.0)
        );
        let Histogram { edges, counts } = found.histogram;
        assert!(edges.len() == counts.len() + 1 && edges.is_sorted());
        assert_eq!((counts.iter().sum::<usize>(), counts[0], counts[BINS - 1]), (81, 2, 3));
    }

    #[test]
    fn values_that_are_all_the_same_have_one_bin_around_them() {
        let found = Distribution::of(vec![1.0; 9]);
        assert_eq!((found.mean, found.deviation, found.quantiles), (1.0, 0.0, [1.0; 7]));
        assert_eq!(found.histogram, Histogram { edges: vec![0.5, 1.5], counts: vec![9] });
    }
}
