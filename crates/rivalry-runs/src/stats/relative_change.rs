//! The confidence interval of the relative change between two means.

use puruspe::invbetai;

use super::MeanStd;

/// A mean with its standard deviation, and the number of values.
pub type Sample = (MeanStd, usize);

/// The 95 % interval of `value / base - 1` for independent samples, such as the seeds of two losses: by the delta method, with
/// Welch's degrees of freedom. `None` for fewer than two values of either.
///
/// ```
/// use rivalry_runs::stats::{MeanStd, relative_change_interval};
/// let sample = |values: &[f64]| (MeanStd::of(values), values.len());
/// let [low, high] = relative_change_interval(sample(&[0.099, 0.1, 0.101]), sample(&[0.108, 0.11, 0.112])).unwrap();
/// assert!((low - 0.058877).abs() < 1e-6 && (high - 0.141123).abs() < 1e-6);
/// ```
pub fn relative_change_interval((base, n_base): Sample, (value, n_value): Sample) -> Option<[f64; 2]> {
    let ratio = value.mean / base.mean;
    // The squared relative standard errors.
    let error = |sample: MeanStd, n: usize| Some((sample.deviation? / sample.mean).powi(2) / n as f64);
    let (base, value) = (error(base, n_base)?, error(value, n_value)?);
    let both = base + value;
    if both == 0.0 {
        return Some([ratio - 1.0; 2]);
    }
    let degrees = both.powi(2) / (base.powi(2) / (n_base - 1) as f64 + value.powi(2) / (n_value - 1) as f64);
    // Student's t from the tail probability of its square, which is a beta distribution.
    let x = invbetai(0.05, degrees / 2.0, 0.5);
    let half = (degrees * (1.0 - x) / x).sqrt() * ratio.abs() * both.sqrt();
    Some([ratio - 1.0 - half, ratio - 1.0 + half])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degenerate_samples_have_an_answer() {
        let one = (MeanStd::of(&[0.1]), 1);
        let constant = (MeanStd::of(&[0.1; 3]), 3);
        assert_eq!(relative_change_interval(one, constant), None);
        let [low, high] = relative_change_interval(constant, (MeanStd::of(&[0.11; 3]), 3)).unwrap();
        assert!(low == high && (low - 0.1).abs() < 1e-12, "{low} {high}");
    }
}
