//! The paired t test.

use puruspe::betai;
use serde::{Deserialize, Serialize};

use super::MeanStd;

/// The result of a paired t test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TTest {
    /// The mean difference divided by its standard error; `None` if the differences have no variance.
    pub statistic: Option<f64>,
    /// The number of pairs minus one.
    pub degrees_of_freedom: usize,
    /// The two-sided p value.
    pub p: f64,
}

/// Student's t test for paired values, given their differences; two-sided.
///
/// With fewer than two pairs, or if all differences are zero, p is 1. If all differences are equal and not zero, p is 0.
///
/// ```
/// let test = rivalry_runs::stats::paired_t(&[1.0, 2.0, 3.0, 2.0]);
/// assert!((test.statistic.unwrap() - 4.898979).abs() < 1e-6 && (test.p - 0.016276).abs() < 1e-6);
/// ```
pub fn paired_t(differences: &[f64]) -> TTest {
    let n = differences.len();
    let MeanStd { mean, deviation } = MeanStd::of(differences);
    let none = |p| TTest { statistic: None, degrees_of_freedom: n.saturating_sub(1), p };
    match deviation {
        None => none(1.0),
        Some(0.0) => none(if mean == 0.0 { 1.0 } else { 0.0 }),
        Some(deviation) => {
            let statistic = mean / (deviation / (n as f64).sqrt());
            TTest {
                statistic: Some(statistic),
                degrees_of_freedom: n - 1,
                p: two_sided(statistic, (n - 1) as f64),
            }
        }
    }
}

/// The two-sided tail probability of Student's t.
fn two_sided(t: f64, degrees: f64) -> f64 {
    betai(0.5 * degrees, 0.5, degrees / (degrees + t * t))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degenerate_samples_have_an_answer() {
        let p = |differences: &[f64]| paired_t(differences).p;
        assert_eq!([p(&[]), p(&[3.0]), p(&[0.0; 9])], [1.0; 3]);
        assert_eq!((p(&[0.1; 9]), paired_t(&[0.1; 9]).statistic), (0.0, None));
    }

    #[test]
    fn the_sign_of_the_difference_does_not_matter() {
        let (there, back) = (paired_t(&[1.0, 2.0, 0.5]), paired_t(&[-1.0, -2.0, -0.5]));
        assert_eq!((there.p, there.statistic), (back.p, back.statistic.map(|t| -t)));
    }

    #[test]
    fn one_degree_of_freedom_is_the_cauchy_distribution() {
        // P(|t| ≥ 1) is one half there.
        assert!((two_sided(1.0, 1.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn thousands_of_users_are_no_trouble() {
        // As SciPy has it.
        for (t, p) in [(2.0, 0.045509262833205485), (12.0, 4.230936814127865e-33)] {
            assert!((two_sided(t, 29999.0) - p).abs() < 1e-8 * p);
        }
    }
}
