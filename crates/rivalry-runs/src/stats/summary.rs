//! Mean, standard deviation, quantiles.

use serde::{Deserialize, Serialize};

/// A sample in two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation (`n - 1` in the denominator); none for fewer than two values.
    pub deviation: Option<f64>,
}

impl Summary {
    /// Of these values; the mean of none is 0.
    ///
    /// ```
    /// let summary = rivalry_runs::stats::Summary::of(&[1.0, 2.0, 3.0]);
    /// assert_eq!((summary.mean, summary.deviation), (2.0, Some(1.0)));
    /// ```
    pub fn of(values: &[f64]) -> Self {
        let mean = mean(values);
        let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
        let deviation = (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt());
        Self { mean, deviation }
    }
}

/// The mean, 0 if there are no values. Of values that are all the same it is that value to the bit.
pub fn mean(values: &[f64]) -> f64 {
    let Some(&first) = values.first() else { return 0.0 };
    // Measured from the first value, a constant sample has no rounding, and so no spread that isn't there.
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
    fn few_and_constant_values_have_a_summary() {
        assert_eq!(Summary::of(&[]), Summary { mean: 0.0, deviation: None });
        assert_eq!(Summary::of(&[4.0]), Summary { mean: 4.0, deviation: None });
        assert_eq!(Summary::of(&[0.1; 7]), Summary { mean: 0.1, deviation: Some(0.0) });
    }

    #[test]
    fn quantiles_lie_between_neighbours() {
        let values = [0.0, 1.0, 4.0];
        assert_eq!([0.0, 0.25, 0.5, 0.75, 1.0].map(|q| quantile(&values, q)), [0.0, 0.5, 1.0, 2.5, 4.0]);
        assert_eq!(quantile(&[7.0], 0.3), 7.0);
    }
}
