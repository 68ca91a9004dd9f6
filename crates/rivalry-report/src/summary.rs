//! Figures over seeds.

use crate::run::Run;

/// The mean of a figure over runs and how far they stray from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summary {
    pub mean: f64,
    /// The sample standard deviation; none for a single run.
    pub deviation: Option<f64>,
}

impl Summary {
    /// Of these values; none if there are none.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect();
        let n = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self { mean, deviation: (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt()) })
    }

    /// Of a figure that all of these runs have; none if one lacks it, for then the mean would be of something else.
    pub(crate) fn over(runs: &[&Run], figure: impl Fn(&Run) -> Option<f64>) -> Option<Self> {
        let values: Option<Vec<f64>> = runs.iter().map(|run| figure(run)).collect();
        Self::of(values?)
    }

    /// `0.1234 ± 0.0012`, or `0.1234` for a single run; a mean of counts has fewer digits.
    pub(crate) fn text(&self) -> String {
        let digits = if self.mean.abs() < 10.0 { 4 } else { 1 };
        match self.deviation {
            Some(deviation) => format!("{:.digits$} ± {deviation:.digits$}", self.mean),
            None => format!("{:.digits$}", self.mean),
        }
    }
}

/// By how many percent `value` is above `base`.
pub(crate) fn change(value: f64, base: f64) -> Option<f64> {
    (base != 0.0).then(|| (value / base - 1.0) * 100.0)
}

/// A change as people read it: `+1.3 %`.
pub(crate) fn percent(change: f64) -> String {
    let rounded = (change * 10.0).round() / 10.0;
    let sign = if rounded > 0.0 {
        "+"
    } else if rounded < 0.0 {
        "−"
    } else {
        "±"
    };
    format!("{sign}{:.1} %", rounded.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_deviations_are_those_of_the_textbook() {
        let summary = Summary::of([0.1, 0.2, 0.3]).unwrap();
        assert!((summary.mean - 0.2).abs() < 1e-15 && (summary.deviation.unwrap() - 0.1).abs() < 1e-15);
        assert_eq!(summary.text(), "0.2000 ± 0.1000");
        assert_eq!(Summary::of([0.25]).unwrap().text(), "0.2500");
        assert_eq!(Summary::of([79.327, 79.327]).unwrap().text(), "79.3 ± 0.0");
        assert_eq!(Summary::of([]), None);
    }

    #[test]
    fn changes_have_signs() {
        assert_eq!(percent(change(0.1295, 0.1261).unwrap()), "+2.7 %");
        assert_eq!(percent(change(0.1255, 0.1261).unwrap()), "−0.5 %");
        assert_eq!(percent(0.01), "±0.0 %");
        assert_eq!(change(0.1, 0.0), None);
    }
}
