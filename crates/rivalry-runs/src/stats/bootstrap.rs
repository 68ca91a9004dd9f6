//! The percentile bootstrap of the mean.

use rayon::prelude::*;

use super::{mean, quantile};
use rivalry::rng::{Purpose, below, stream};

/// Parameters of a bootstrap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// The number of resamples.
    pub resamples: usize,
    /// The confidence level.
    pub confidence: f64,
    /// The seed of the resampling.
    pub seed: u64,
}

impl Default for Bootstrap {
    /// 2000 resamples, 95 %, seed 0.
    fn default() -> Self {
        Self { resamples: 2000, confidence: 0.95, seed: 0 }
    }
}

/// The percentile bootstrap interval of the mean.
///
/// Each resample has its own random stream, so the interval does not depend on the number of threads. Without resamples or
/// with fewer than two values both ends are the mean.
///
/// ```
/// let values: Vec<f64> = (0..100).map(f64::from).collect();
/// let [low, high] = rivalry_runs::stats::mean_interval(&values, Default::default());
/// assert!(low > 40.0 && low < 49.5 && high > 49.5 && high < 60.0);
/// ```
pub fn mean_interval(values: &[f64], bootstrap: Bootstrap) -> [f64; 2] {
    let n = values.len();
    if n < 2 || bootstrap.resamples == 0 {
        return [mean(values); 2];
    }
    let resample = |number: u64| {
        let mut rng = stream(bootstrap.seed, Purpose::Bootstrap, &[number]);
        // Relative to the first value, so that constant values have no rounding errors.
        let drawn: f64 = (0..n).map(|_| values[below(&mut rng, n as u32) as usize] - values[0]).sum();
        values[0] + drawn / n as f64
    };
    let mut means: Vec<f64> = (0..bootstrap.resamples as u64).into_par_iter().map(resample).collect();
    means.sort_unstable_by(f64::total_cmp);
    let outside = (1.0 - bootstrap.confidence) / 2.0;
    [outside, 1.0 - outside].map(|share| quantile(&means, share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Vec<f64> {
        (0..500).map(|n| f64::from(n * 7919 % 1000) / 1000.0 - 0.4).collect()
    }

    #[test]
    fn the_interval_is_close_to_the_normal_one() {
        let [low, high] = mean_interval(&values(), Bootstrap::default());
        let summary = super::super::MeanStd::of(&values());
        let half = 1.96 * summary.deviation.unwrap() / 500f64.sqrt();
        assert!((low - (summary.mean - half)).abs() < 0.1 * half, "{low} {high}");
        assert!((high - (summary.mean + half)).abs() < 0.1 * half, "{low} {high}");
    }

    #[test]
    fn the_seed_decides_and_threads_do_not() {
        let with = |threads: usize, seed| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| mean_interval(&values(), Bootstrap { seed, ..Bootstrap::default() }))
        };
        assert_eq!(with(1, 5), with(3, 5));
        assert_ne!(with(1, 5), with(1, 6));
    }

    #[test]
    fn what_does_not_vary_has_no_width() {
        assert_eq!(mean_interval(&[], Bootstrap::default()), [0.0; 2]);
        assert_eq!(mean_interval(&[0.7], Bootstrap::default()), [0.7; 2]);
        assert_eq!(mean_interval(&[0.1; 40], Bootstrap::default()), [0.1; 2]);
        assert_eq!(mean_interval(&[0.0; 40], Bootstrap::default()), [0.0; 2]);
    }
}
