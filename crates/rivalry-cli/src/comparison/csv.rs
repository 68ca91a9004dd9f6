//! A comparison as CSV: one line per method and metric.

use rivalry::eval::{MetricAt, Metrics};
use rivalry_runs::compare::{Comparison, MethodSummary};
use rivalry_runs::stats::MeanStd;

const HEADER: [&str; 24] = [
    "method",
    "baseline",
    "seeds",
    "users",
    "metric",
    "mean",
    "deviation",
    "head",
    "tail",
    "difference",
    "relative",
    "low",
    "high",
    "t",
    "t_p",
    "t_p_holm",
    "wilcoxon",
    "wilcoxon_p",
    "wilcoxon_p_holm",
    "better",
    "same",
    "worse",
    "head_difference",
    "tail_difference",
];

/// Numbers in full precision; a field is empty if there is no such number. Properties of the recommendation lists follow as
/// further metrics.
pub fn csv(comparison: &Comparison) -> anyhow::Result<String> {
    let mut file = csv::Writer::from_writer(Vec::new());
    file.write_record(HEADER)?;
    for method in &comparison.methods {
        for &metric in comparison.metrics.iter().chain(method.lists.keys()) {
            file.write_record(line(comparison, method, metric))?;
        }
    }
    let text = String::from_utf8(file.into_inner()?)?;
    Ok(text.trim_end().to_owned())
}

fn line(comparison: &Comparison, method: &MethodSummary, metric: MetricAt) -> Vec<String> {
    let summary = method.metrics.get(&metric).or(method.lists.get(&metric));
    let found = method.differences.get(&metric);
    let bucket = |bucket: &Metrics<MeanStd>| bucket.get(&metric).map(|summary| summary.mean);
    let numbers = [
        summary.map(|summary| summary.mean),
        summary.and_then(|summary| summary.deviation),
        bucket(&method.head),
        bucket(&method.tail),
        found.map(|found| found.mean),
        found.and_then(|found| found.relative),
        found.map(|found| found.interval[0]),
        found.map(|found| found.interval[1]),
        found.and_then(|found| found.t.statistic),
        found.map(|found| found.t.p),
        found.map(|found| found.t_corrected),
        found.map(|found| found.wilcoxon.statistic),
        found.map(|found| found.wilcoxon.p),
        found.map(|found| found.wilcoxon_corrected),
        found.map(|found| found.better),
        found.map(|found| found.same),
        found.map(|found| found.worse),
        found.and_then(|found| found.head),
        found.and_then(|found| found.tail),
    ];
    let texts = [
        method.name.clone(),
        comparison.baseline.clone(),
        method.seeds.len().to_string(),
        comparison.users.to_string(),
        metric.to_string(),
    ];
    let numbers = numbers.map(|number| number.map(|number| number.to_string()).unwrap_or_default());
    texts.into_iter().chain(numbers).collect()
}
