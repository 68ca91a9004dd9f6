//! The tables of a comparison, independent of the output format.

use rivalry::data::thousands;
use rivalry::eval::MetricAt;
use rivalry_runs::compare::{Comparison, Difference, MethodSummary};
use rivalry_runs::stats::MeanStd;

use crate::table::{Table, TableCell, TableColumn};

/// The tables of a comparison: means, differences, head and tail items, and metrics of the recommended lists as a whole.
pub fn comparison_tables(comparison: &Comparison) -> Vec<Table> {
    let mut tables = vec![means(comparison)];
    if comparison.methods.len() > 1 {
        tables.push(differences(comparison));
    }
    tables.push(head_and_tail(comparison));
    tables.push(lists(comparison));
    tables
}

fn means(comparison: &Comparison) -> Table {
    let best = |metric: &MetricAt| {
        let means = comparison.methods.iter().filter_map(|method| Some(method.metrics.get(metric)?.mean));
        means.fold(f64::NEG_INFINITY, f64::max)
    };
    let row = |method: &MethodSummary| {
        let cell = |metric: &MetricAt| {
            let summary = method.metrics.get(metric);
            let best = summary.is_some_and(|summary| summary.mean == best(metric));
            TableCell { bold: best && comparison.methods.len() > 1, ..summary_cell(summary) }
        };
        let first = [method.name.clone(), method.seeds.len().to_string()].map(TableCell::new);
        first.into_iter().chain(comparison.metrics.iter().map(cell)).collect()
    };
    let numbers =
        std::iter::once("seeds".to_owned()).chain(comparison.metrics.iter().map(MetricAt::to_string));
    Table {
        caption: "Mean ± standard deviation over seeds".to_owned(),
        columns: columns(&["method"], numbers),
        rows: comparison.methods.iter().map(row).collect(),
    }
}

/// The differences from the baseline, with intervals and p values.
pub(super) fn differences(comparison: &Comparison) -> Table {
    let mut rows = Vec::new();
    for metric in &comparison.metrics {
        for method in &comparison.methods {
            let Some(difference) = method.differences.get(metric) else { continue };
            let Difference { mean, relative, interval: [low, high], better, same, worse, .. } = difference;
            let share = |share: &f64| format!("{:.0}", 100.0 * share);
            let row = [
                metric.to_string(),
                method.name.clone(),
                format!("{mean:+.4}"),
                relative.map_or_else(|| "–".to_owned(), |relative| format!("{:+.1} %", 100.0 * relative)),
                format!("[{low:+.4}, {high:+.4}]"),
                p_value(difference.t_corrected),
                p_value(difference.wilcoxon_corrected),
                [better, same, worse].map(share).join(" / "),
            ];
            rows.push(row.map(TableCell::new).into());
        }
    }
    let interval = format!("{:.0} % interval", 100.0 * comparison.confidence);
    let numbers = ["difference", "relative", &interval, "t p", "Wilcoxon p", "% better / same / worse"];
    Table {
        caption: format!(
            "Against {}, paired over {} users",
            comparison.baseline,
            thousands(comparison.users)
        ),
        columns: columns(&["metric", "method"], numbers),
        rows,
    }
}

fn head_and_tail(comparison: &Comparison) -> Table {
    let row = |method: &MethodSummary| {
        let mut row = vec![TableCell::new(&method.name)];
        for metric in &comparison.metrics {
            let difference = method.differences.get(metric);
            let head = (&method.head, difference.and_then(|difference| difference.head));
            let tail = (&method.tail, difference.and_then(|difference| difference.tail));
            for (bucket, difference) in [head, tail] {
                let mut cell = summary_cell(bucket.get(metric));
                cell.text += &difference.map(|mean| format!(" ({mean:+.4})")).unwrap_or_default();
                row.push(cell);
            }
        }
        row
    };
    let buckets = |metric: &MetricAt| ["head", "tail"].map(|bucket| format!("{metric} {bucket}"));
    let numbers = comparison.metrics.iter().flat_map(buckets);
    let mut caption =
        "The most popular 20 % of the items (head) and the least popular 20 % (tail)".to_owned();
    if comparison.methods.len() > 1 {
        caption += &format!("; in brackets the difference from {}", comparison.baseline);
    }
    Table {
        caption,
        columns: columns(&["method"], numbers),
        rows: comparison.methods.iter().map(row).collect(),
    }
}

fn lists(comparison: &Comparison) -> Table {
    let metrics: Vec<MetricAt> =
        comparison.methods.first().into_iter().flat_map(|method| method.lists.keys()).copied().collect();
    let row = |method: &MethodSummary| {
        let values = metrics.iter().map(|metric| summary_cell(method.lists.get(metric)));
        std::iter::once(TableCell::new(&method.name)).chain(values).collect()
    };
    Table {
        caption: "Metrics of the recommended lists as a whole".to_owned(),
        columns: columns(&["method"], metrics.iter().map(MetricAt::to_string)),
        rows: comparison.methods.iter().map(row).collect(),
    }
}

/// Columns of text, then columns of numbers.
fn columns(texts: &[&str], numbers: impl IntoIterator<Item = impl Into<String>>) -> Vec<TableColumn> {
    let texts = texts.iter().map(|title| TableColumn::text(*title));
    texts.chain(numbers.into_iter().map(TableColumn::number)).collect()
}

fn summary_cell(summary: Option<&MeanStd>) -> TableCell {
    TableCell::or_dash(summary.map(MeanStd::to_string))
}

fn p_value(p: f64) -> String {
    if p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}
