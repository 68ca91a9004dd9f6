//! Mean, standard deviation, quantiles.

use rivalry::eval::{MetricAt, Metrics};
use serde::{Deserialize, Serialize};

/// The mean and standard deviation of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeanStd {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation (`n - 1` in the denominator); `None` for fewer than two values.
    pub deviation: Option<f64>,
}

impl MeanStd {
    /// The mean and standard deviation of these values; the mean of none is 0.
    ///
    /// ```
    /// let summary = rivalry_runs::stats::MeanStd::of(&[1.0, 2.0, 3.0]);
    /// assert_eq!((summary.mean, summary.deviation), (2.0, Some(1.0)));
    /// assert_eq!(summary.to_string(), "2.0000 ± 1.0000");
    /// ```
    pub fn of(values: &[f64]) -> Self {
        let mean = mean(values);
        let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
        let deviation = (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt());
        Self { mean, deviation }
    }

    /// The mean and standard deviation of each metric over several runs, of the metrics that the first run has.
    pub fn of_each(runs: &[&Metrics]) -> Metrics<Self> {
        let over_runs = |metric: &MetricAt| -> Vec<f64> {
            runs.iter().filter_map(|values| values.get(metric).copied()).collect()
        };
        let metrics = runs.first().into_iter().flat_map(|first| first.keys());
        metrics.map(|metric| (*metric, Self::of(&over_runs(metric)))).collect()
    }

    /// The mean and standard deviation of these values; `None` if there are none or one is missing.
    pub fn of_complete(values: impl IntoIterator<Item = Option<f64>>) -> Option<Self> {
        let values: Option<Vec<f64>> = values.into_iter().collect();
        values.filter(|values| !values.is_empty()).map(|values| Self::of(&values))
    }
}

/// `0.1234 ± 0.0012`, or `0.1234` without a deviation; fewer digits for means of 10 and more, such as counts.
impl std::fmt::Display for MeanStd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = if self.mean.abs() < 10.0 { 4 } else { 1 };
        write!(f, "{:.digits$}", self.mean)?;
        self.deviation.map_or(Ok(()), |deviation| write!(f, " ± {deviation:.digits$}"))
    }
}

/// The mean, 0 if there are no values. The mean of equal values is exactly that value.
pub fn mean(values: &[f64]) -> f64 {
    let Some(&first) = values.first() else { return 0.0 };
    // Relative to the first value, so that a constant sample has no rounding errors and a deviation of zero.
    first + values.iter().map(|x| x - first).sum::<f64>() / values.len() as f64
}

/// The quantile at `share` of ascending values, linear between neighbours.
///
/// # Panics
/// If there are no values.
pub fn quantile(ascending: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (ascending.len() - 1) as f64;
    let (below, above) = (ascending[place.floor() as usize], ascending[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_constant_values_are_exact() {
        assert_eq!(MeanStd::of(&[]), MeanStd { mean: 0.0, deviation: None });
        assert_eq!(MeanStd::of(&[4.0]), MeanStd { mean: 4.0, deviation: None });
        assert_eq!(MeanStd::of(&[0.1; 7]), MeanStd { mean: 0.1, deviation: Some(0.0) });
    }

    #[test]
    fn a_missing_value_has_no_mean_and_large_means_have_fewer_digits() {
        assert_eq!(MeanStd::of_complete([Some(0.1), None]), None);
        assert_eq!(MeanStd::of_complete([]), None);
        assert_eq!(MeanStd::of_complete([Some(0.25)]).unwrap().to_string(), "0.2500");
        assert_eq!(MeanStd::of(&[79.327, 79.327]).to_string(), "79.3 ± 0.0");
    }

    #[test]
    fn quantiles_lie_between_neighbours() {
        let values = [0.0, 1.0, 4.0];
        assert_eq!([0.0, 0.25, 0.5, 0.75, 1.0].map(|q| quantile(&values, q)), [0.0, 0.5, 1.0, 2.5, 4.0]);
        assert_eq!(quantile(&[7.0], 0.3), 7.0);
    }
}
