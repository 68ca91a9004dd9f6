//! Known differences, and what the comparison reports.

use rivalry::eval::{MetricAt, Metrics};

use super::*;
use crate::selection::Protocol;
use crate::stats::Bootstrap;
use rivalry::config::Select;
use rivalry::eval::{Average, Mask};

const NDCG: MetricAt = MetricAt::ndcg(20);

fn run(seed: u64, per_user: Vec<f64>) -> EvaluatedRun {
    let named = |value: f64| Metrics::from_iter([(NDCG, value)]);
    let mean = crate::stats::mean(&per_user);
    EvaluatedRun {
        seed,
        metrics: named(mean),
        head: named(mean / 2.0),
        per_user: Metrics::from_iter([(NDCG, per_user)]),
        ..EvaluatedRun::default()
    }
}

fn evaluated(methods: &[(&str, &[Vec<f64>])]) -> EvaluatedMethods {
    let protocol = Protocol {
        data: "planted".to_owned(),
        data_checksum: String::new(),
        mask: Mask::default(),
        average: Average::default(),
        select: Some(Select::Valid),
        selection_metric: NDCG,
    };
    let method = |(name, runs): &(&str, &[Vec<f64>])| EvaluatedMethod {
        deterministic: false,
        name: (*name).to_owned(),
        runs: (0..).zip(*runs).map(|(seed, values)| run(seed, values.clone())).collect(),
    };
    EvaluatedMethods { protocol, methods: methods.iter().map(method).collect() }
}

/// 400 users whose values lie all over [0, 1).
fn base() -> Vec<f64> {
    (0..400).map(|n| f64::from(n * 7919 % 1000) / 1000.0).collect()
}

fn shifted(by: impl Fn(usize) -> f64) -> Vec<f64> {
    base().iter().enumerate().map(|(n, x)| x + by(n)).collect()
}

#[test]
fn a_planted_difference_is_found_with_its_size_and_sign() {
    // A quarter of the users gain 0.2, an eighth lose 0.1, the rest stay.
    let better = shifted(|n| [0.2, 0.2, -0.1, 0.0, 0.0, 0.0, 0.0, 0.0][n % 8]);
    let found = compare_to_baseline(
        &evaluated(&[("a", &[base()]), ("b", &[better])]),
        0,
        &[NDCG],
        Bootstrap::default(),
    );
    assert_eq!((&found.baseline[..], found.users), ("a", 400));
    assert!(found.methods[0].differences.is_empty());
    let difference = &found.methods[1].differences["NDCG@20"];
    assert!((difference.mean - 0.0375).abs() < 1e-12);
    assert!((difference.relative.unwrap() - 0.0375 / crate::stats::mean(&base())).abs() < 1e-12);
    assert!((difference.head.unwrap() - 0.01875).abs() < 1e-12 && difference.tail.is_none());
    assert_eq!((difference.better, difference.same, difference.worse), (0.25, 0.625, 0.125));
    let [low, high] = difference.interval;
    assert!(0.0 < low && low < 0.0375 && 0.0375 < high, "{low} {high}");
    assert!(difference.t.p < 1e-6 && difference.wilcoxon.p < 1e-6);
    assert_eq!(difference.wilcoxon.used, 150);
    // With one comparison there is nothing to correct for.
    assert_eq!(difference.t_corrected, difference.t.p);
}

#[test]
fn a_method_that_is_the_same_is_not_found_different() {
    let found = compare_to_baseline(
        &evaluated(&[("a", &[base()]), ("b", &[base()])]),
        0,
        &[NDCG],
        Bootstrap::default(),
    );
    let difference = &found.methods[1].differences["NDCG@20"];
    assert_eq!((difference.mean, difference.interval, difference.same), (0.0, [0.0; 2], 1.0));
    assert_eq!((difference.t_corrected, difference.wilcoxon_corrected), (1.0, 1.0));
}

#[test]
fn seeds_are_averaged_for_each_user_before_users_are_compared() {
    // The seeds wander in opposite directions, so that their mean is the base again.
    let wave = |sign: f64| shifted(|n| sign * (n as f64).sin() / 10.0);
    let methods = evaluated(&[("a", &[base()]), ("b", &[wave(1.0), wave(-1.0)])]);
    let found = compare_to_baseline(&methods, 0, &[NDCG], Bootstrap::default());
    assert!(found.methods[1].differences["NDCG@20"].interval.iter().all(|x| x.abs() < 1e-12));
    assert_eq!((&found.methods[1].seeds, found.methods[0].metrics["NDCG@20"].deviation), (&vec![0, 1], None));
    assert!(found.methods[1].metrics["NDCG@20"].deviation.unwrap() > 0.0);
}

#[test]
fn p_values_are_corrected_for_the_number_of_comparisons_and_the_baseline_can_be_any() {
    let little = shifted(|n| if n % 40 == 0 { 0.1 } else { 0.0 });
    let methods = evaluated(&[
        ("much", &[shifted(|n| f64::from(n as u32 % 3) / 10.0)]),
        ("base", &[base()]),
        ("little", &[little]),
    ]);
    let found = compare_to_baseline(&methods, 1, &[NDCG], Bootstrap::default());
    assert_eq!(found.baseline, "base");
    let [much, little] = [0, 2].map(|place| &found.methods[place].differences["NDCG@20"]);
    assert!(much.t.p < little.t.p && little.t.p < 0.05);
    assert_eq!((much.t_corrected, little.t_corrected), (2.0 * much.t.p, little.t.p));
    assert_eq!(
        (much.wilcoxon_corrected, little.wilcoxon_corrected),
        (2.0 * much.wilcoxon.p, little.wilcoxon.p)
    );
}

#[test]
fn rounding_in_the_means_over_seeds_is_no_difference() {
    let thirds = |order: [f64; 3]| order.map(|x| vec![x; 90]);
    let methods = evaluated(&[("a", &thirds([0.1, 0.2, 0.7])), ("b", &thirds([0.7, 0.1, 0.2]))]);
    let found = compare_to_baseline(&methods, 0, &[NDCG], Bootstrap::default());
    let difference = &found.methods[1].differences["NDCG@20"];
    assert_eq!((difference.same, difference.wilcoxon.used, difference.t.p), (1.0, 0, 1.0));
}
