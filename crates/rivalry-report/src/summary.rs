//! Metrics over seeds, and changes relative to a baseline.

use rivalry_runs::stats::MeanStd;

use crate::run::Run;

/// A value of these runs; `None` if one of them lacks it.
pub(crate) fn over(runs: &[&Run], value: impl Fn(&Run) -> Option<f64>) -> Option<MeanStd> {
    MeanStd::of_complete(runs.iter().map(|run| value(run)))
}

/// By how many percent `value` is above `base`.
pub(crate) fn change(value: f64, base: f64) -> Option<f64> {
    (base != 0.0).then(|| (value / base - 1.0) * 100.0)
}

/// A change with its sign: `+1.3 %`.
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
    fn changes_have_signs() {
        assert_eq!(percent(change(0.1295, 0.1261).unwrap()), "+2.7 %");
        assert_eq!(percent(change(0.1255, 0.1261).unwrap()), "−0.5 %");
        assert_eq!(percent(0.01), "±0.0 %");
        assert_eq!(change(0.1, 0.0), None);
    }
}
