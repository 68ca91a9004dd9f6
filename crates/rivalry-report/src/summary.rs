//! Metrics over seeds, and relative changes.

use rivalry_runs::stats::MeanStd;

use crate::run::Run;

/// A value over runs; `None` if a run lacks it.
pub(crate) fn over_runs(runs: &[&Run], value: impl Fn(&Run) -> Option<f64>) -> Option<MeanStd> {
    MeanStd::of_complete(runs.iter().map(|run| value(run)))
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
    fn a_value_over_no_runs_is_none() {
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
