//! Each method against the baseline, user by user.

use std::collections::BTreeMap;

use super::{Compared, Comparison, Difference, Measured, MeasuredMethod, MeasuredRun, MetricAt};
use crate::stats::{Bootstrap, Summary, holm, mean, mean_interval, paired_t, wilcoxon};

/// Sums up every method over its seeds, and holds it against the one at the place `baseline`.
///
/// # Panics
/// If there is no such place, or a run lacks a metric or has values for other users than the rest.
pub fn contrast(
    measured: &Measured,
    baseline: usize,
    metrics: &[MetricAt],
    bootstrap: Bootstrap,
) -> Comparison {
    let names: Vec<String> = metrics.iter().map(MetricAt::to_string).collect();
    let mut methods: Vec<Compared> = measured.methods.iter().map(sum_up).collect();
    for name in &names {
        let base = user_means(&measured.methods[baseline], name);
        let mut found: Vec<(usize, Difference)> = Vec::new();
        for (place, method) in measured.methods.iter().enumerate() {
            if place == baseline {
                continue;
            }
            let mut difference = difference(&user_means(method, name), &base, bootstrap);
            let apart = |part: fn(&Compared) -> &BTreeMap<String, Summary>| {
                Some(part(&methods[place]).get(name)?.mean - part(&methods[baseline]).get(name)?.mean)
            };
            difference.head = apart(|method| &method.head);
            difference.tail = apart(|method| &method.tail);
            found.push((place, difference));
        }
        let corrected = |p: fn(&Difference) -> f64| {
            holm(&found.iter().map(|(_, difference)| p(difference)).collect::<Vec<_>>())
        };
        let (t, ranks) = (corrected(|found| found.t.p), corrected(|found| found.wilcoxon.p));
        for (((place, difference), t), ranks) in found.into_iter().zip(t).zip(ranks) {
            let difference = Difference { t_corrected: t, wilcoxon_corrected: ranks, ..difference };
            methods[place].differences.insert(name.clone(), difference);
        }
    }
    Comparison {
        terms: measured.terms.clone(),
        users: names.first().map_or(0, |name| measured.methods[baseline].runs[0].per_user[name].len()),
        metrics: names,
        baseline: measured.methods[baseline].name.clone(),
        confidence: bootstrap.confidence,
        resamples: bootstrap.resamples,
        methods,
    }
}

/// What a method came to over its seeds.
fn sum_up(method: &MeasuredMethod) -> Compared {
    let over_seeds = |part: fn(&MeasuredRun) -> &BTreeMap<String, f64>| {
        let names = part(&method.runs[0]).keys();
        let values = |name: &String| -> Vec<f64> {
            method.runs.iter().filter_map(|run| part(run).get(name)).copied().collect()
        };
        names.map(|name| (name.clone(), Summary::of(&values(name)))).collect()
    };
    Compared {
        name: method.name.clone(),
        runs: method.runs.iter().map(|run| run.path.clone()).collect(),
        seeds: method.runs.iter().map(|run| run.seed).collect(),
        metrics: over_seeds(|run| &run.metrics),
        head: over_seeds(|run| &run.head),
        tail: over_seeds(|run| &run.tail),
        lists: over_seeds(|run| &run.lists),
        differences: BTreeMap::new(),
    }
}

/// Each user's mean over the seeds of a method.
fn user_means(method: &MeasuredMethod, metric: &str) -> Vec<f64> {
    let columns: Vec<&[f64]> = method.runs.iter().map(|run| &run.per_user[metric][..]).collect();
    let of_user = |user: usize| mean(&columns.iter().map(|column| column[user]).collect::<Vec<_>>());
    (0..columns[0].len()).map(of_user).collect()
}

/// The difference of paired values; what depends on other comparisons is left open.
fn difference(values: &[f64], base: &[f64], bootstrap: Bootstrap) -> Difference {
    assert_eq!(values.len(), base.len(), "values of other users");
    let differences: Vec<f64> = values.iter().zip(base).map(|(value, base)| cleaned(value - base)).collect();
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

/// Means over seeds carry rounding, which would tell users apart who are the same, and break ties among ranks.
fn cleaned(difference: f64) -> f64 {
    (difference * 1e12).round() / 1e12
}
