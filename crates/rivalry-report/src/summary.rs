//! Metrics over seeds, and relative changes.

use rivalry_runs::stats::Summary;

use crate::run::Run;

/// The summary of a value over runs; none if a run lacks it.
pub(crate) fn over_runs(runs: &[&Run], value: impl Fn(&Run) -> Option<f64>) -> Option<Summary> {
    let values: Option<Vec<f64>> = runs.iter().map(|run| value(run)).collect();
    values.filter(|values| !values.is_empty()).map(|values| Summary::of(&values))
}

/// `0.1234 ± 0.0012`, or `0.1234` for a single run; with one decimal from 10 up, as for counts.
pub fn mean_and_deviation(Summary { mean, deviation }: &Summary) -> String {
    let decimals = if mean.abs() < 10.0 { 4 } else { 1 };
    match deviation {
        Some(deviation) => format!("{mean:.decimals$} ± {deviation:.decimals$}"),
        None => format!("{mean:.decimals$}"),
    }
}

/// The change from `base` to `value` in percent; none if `base` is zero.
pub(crate) fn relative_change(value: f64, base: f64) -> Option<f64> {
    (base != 0.0).then(|| (value / base - 1.0) * 100.0)
}

/// A change in percent with its sign: `+1.3 %`.
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
    fn summaries_have_a_deviation_if_there_are_several_values() {
        assert_eq!(mean_and_deviation(&Summary::of(&[0.1, 0.2, 0.3])), "0.2000 ± 0.1000");
        assert_eq!(mean_and_deviation(&Summary::of(&[0.25])), "0.2500");
        assert_eq!(mean_and_deviation(&Summary::of(&[79.327, 79.327])), "79.3 ± 0.0");
        assert_eq!(over_runs(&[], |_| Some(1.0)), None);
    }

    #[test]
    fn changes_have_signs() {
        assert_eq!(percent(relative_change(0.1295, 0.1261).unwrap()), "+2.7 %");
        assert_eq!(percent(relative_change(0.1255, 0.1261).unwrap()), "−0.5 %");
        assert_eq!(percent(0.01), "±0.0 %");
        assert_eq!(relative_change(0.1, 0.0), None);
    }
}
