//! The library's tests against SciPy's, on the vectors of `scipy.json` (made by `make.py`).

use rivalry_runs::stats::{MeanStd, paired_t, wilcoxon};
use serde_json::Value;

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs() + 1e-300
}

#[test]
fn scipy_says_the_same() {
    let document: Value = serde_json::from_str(include_str!("scipy.json")).unwrap();
    let cases = document["cases"].as_array().unwrap();
    assert!(cases.len() > 20);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let differences: Vec<f64> = serde_json::from_value(case["differences"].clone()).unwrap();
        let MeanStd { mean, deviation } = MeanStd::of(&differences);
        assert!((mean - case["mean"].as_f64().unwrap()).abs() < 1e-15, "{name}: mean {mean}");
        assert!(close(deviation.unwrap(), case["deviation"].as_f64().unwrap()), "{name}: {deviation:?}");

        let (t, expected) = (paired_t(&differences), &case["t"]);
        assert_eq!(t.degrees_of_freedom as u64, expected["degrees_of_freedom"], "{name}");
        match (t.statistic, expected["statistic"].as_f64()) {
            (Some(found), Some(expected)) => assert!(close(found, expected), "{name}: t {found} {expected}"),
            (found, expected) => assert_eq!(found, expected, "{name}"),
        }
        // Where nothing differs SciPy has no answer, and ours is that there is no evidence.
        let p = expected["p"].as_f64().unwrap_or(1.0);
        assert!(close(t.p, p), "{name}: p of t {} {p}", t.p);

        let (rank, expected) = (wilcoxon(&differences), &case["wilcoxon"]);
        assert_eq!(rank.statistic, expected["statistic"].as_f64().unwrap_or(0.0), "{name}");
        let p = expected["p"].as_f64().unwrap_or(1.0);
        assert!(close(rank.p, p), "{name}: p of the ranks {} {p}", rank.p);
    }
}
