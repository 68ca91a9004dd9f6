//! Paired comparison of each method with the baseline.

use super::{Comparison, Difference, EvaluatedMethod, EvaluatedMethods, EvaluatedRun, MethodSummary};
use crate::stats::{Bootstrap, MeanStd, holm, mean, mean_interval, paired_t, wilcoxon};
use rivalry::eval::{MetricAt, Metrics};

/// Summarises every method over its seeds and compares it with the one at the index `baseline`.
///
/// # Panics
/// If there is no such index, or a run lacks a metric or has values for other users than the rest.
pub fn compare_to_baseline(
    evaluated: &EvaluatedMethods,
    baseline: usize,
    metrics: &[MetricAt],
    bootstrap: Bootstrap,
) -> Comparison {
    let mut methods: Vec<MethodSummary> = evaluated.methods.iter().map(summarise).collect();
    for &metric in metrics {
        let base = user_means(&evaluated.methods[baseline], metric);
        let mut found: Vec<(usize, Difference)> = Vec::new();
        for (index, method) in evaluated.methods.iter().enumerate() {
            if index == baseline {
                continue;
            }
            let mut difference = difference(&user_means(method, metric), &base, bootstrap);
            let difference_in = |part: fn(&MethodSummary) -> &Metrics<MeanStd>| {
                Some(part(&methods[index]).get(&metric)?.mean - part(&methods[baseline]).get(&metric)?.mean)
            };
            difference.head = difference_in(|method| &method.head);
            difference.tail = difference_in(|method| &method.tail);
            found.push((index, difference));
        }
        let corrected = |p: fn(&Difference) -> f64| {
            holm(&found.iter().map(|(_, difference)| p(difference)).collect::<Vec<_>>())
        };
        let (t, ranks) = (corrected(|found| found.t.p), corrected(|found| found.wilcoxon.p));
        for (((index, difference), t), ranks) in found.into_iter().zip(t).zip(ranks) {
            let difference = Difference { t_corrected: t, wilcoxon_corrected: ranks, ..difference };
            methods[index].differences.insert(metric, difference);
        }
    }
    Comparison {
        protocol: evaluated.protocol.clone(),
        users: metrics
            .first()
            .map_or(0, |&metric| evaluated.methods[baseline].runs[0].per_user[metric].len()),
        metrics: metrics.to_vec(),
        baseline: evaluated.methods[baseline].name.clone(),
        confidence: bootstrap.confidence,
        resamples: bootstrap.resamples,
        methods,
    }
}

/// The metrics of a method over its seeds.
fn summarise(method: &EvaluatedMethod) -> MethodSummary {
    let over_seeds = |part: fn(&EvaluatedRun) -> &Metrics| {
        MeanStd::of_each(&method.runs.iter().map(part).collect::<Vec<_>>())
    };
    MethodSummary {
        name: method.name.clone(),
        runs: method.runs.iter().map(|run| run.path.clone()).collect(),
        seeds: method.runs.iter().map(|run| run.seed).collect(),
        deterministic: method.deterministic,
        metrics: over_seeds(|run| &run.metrics),
        head: over_seeds(|run| &run.head),
        tail: over_seeds(|run| &run.tail),
        lists: over_seeds(|run| &run.lists),
        differences: Metrics::default(),
    }
}

/// Each user's mean over the seeds of a method.
fn user_means(method: &EvaluatedMethod, metric: MetricAt) -> Vec<f64> {
    let columns: Vec<&[f64]> = method.runs.iter().map(|run| &run.per_user[metric][..]).collect();
    let of_user = |user: usize| mean(&columns.iter().map(|column| column[user]).collect::<Vec<_>>());
    (0..columns[0].len()).map(of_user).collect()
}

/// The difference of paired values, without the corrections that depend on the other comparisons.
fn difference(values: &[f64], base: &[f64], bootstrap: Bootstrap) -> Difference {
    assert_eq!(values.len(), base.len(), "the values are paired by user");
    let differences: Vec<f64> = values.iter().zip(base).map(|(value, base)| rounded(value - base)).collect();
    let share = |wanted: fn(f64) -> bool| {
        differences.iter().filter(|d| wanted(**d)).count() as f64 / differences.len().max(1) as f64
    };
    let (of_base, of_differences) = (mean(base), mean(&differences));
    Difference {
        mean: of_differences,
        relative: (of_base != 0.0).then(|| of_differences / of_base),
        interval: mean_interval(&differences, bootstrap),
        t: paired_t(&differences),
        t_corrected: 1.0,
        wilcoxon: wilcoxon(&differences),
        wilcoxon_corrected: 1.0,
        better: share(|d| d > 0.0),
        same: share(|d| d == 0.0),
        worse: share(|d| d < 0.0),
        head: None,
        tail: None,
    }
}

/// Removes the rounding errors of means over seeds, which would turn zero differences into non-zero ones and break ties
/// of ranks.
fn rounded(difference: f64) -> f64 {
    (difference * 1e12).round() / 1e12
}
