//! The tables of a comparison, independent of the output format.

use rivalry::data::thousands;
use rivalry_runs::compare::{Comparison, Difference, MethodSummary};
use rivalry_runs::stats::MeanStd;

/// A table.
pub struct Sheet {
    pub title: String,
    pub header: Vec<String>,
    /// The number of leading text columns.
    pub texts: usize,
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
pub struct Cell {
    pub text: String,
    /// Whether it is the best of its column.
    pub best: bool,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, best: false }
    }
}

/// Means, differences, popular and rare items, and properties of the lists.
pub fn sheets(comparison: &Comparison) -> Vec<Sheet> {
    let mut sheets = vec![means(comparison)];
    if comparison.methods.len() > 1 {
        sheets.push(differences(comparison));
    }
    sheets.push(popularity(comparison));
    sheets.push(lists(comparison));
    sheets
}

fn means(comparison: &Comparison) -> Sheet {
    let best = |metric: &String| {
        let means = comparison.methods.iter().filter_map(|method| Some(method.metrics.get(metric)?.mean));
        means.fold(f64::NEG_INFINITY, f64::max)
    };
    let row = |method: &MethodSummary| {
        let cell = |metric: &String| {
            let found = method.metrics.get(metric);
            let best = found.is_some_and(|found| found.mean == best(metric)) && comparison.methods.len() > 1;
            Cell { text: mean_std(found), best }
        };
        let texts = [method.name.clone(), method.seeds.len().to_string()].map(Cell::from);
        texts.into_iter().chain(comparison.metrics.iter().map(cell)).collect()
    };
    Sheet {
        title: "Mean over the seeds ± standard deviation".to_owned(),
        header: header(&["method", "seeds"], comparison.metrics.iter().cloned()),
        texts: 1,
        rows: comparison.methods.iter().map(row).collect(),
    }
}

fn differences(comparison: &Comparison) -> Sheet {
    let mut rows = Vec::new();
    for metric in &comparison.metrics {
        for method in &comparison.methods {
            let Some(found) = method.differences.get(metric) else { continue };
            let Difference { mean, relative, interval: [low, high], better, same, worse, .. } = found;
            let share = |share: &f64| format!("{:.0}", 100.0 * share);
            let row = [
                metric.clone(),
                method.name.clone(),
                format!("{mean:+.4}"),
                relative.map_or_else(|| "–".to_owned(), |relative| format!("{:+.1} %", 100.0 * relative)),
                format!("[{low:+.4}, {high:+.4}]"),
                p_value(found.t_corrected),
                p_value(found.wilcoxon_corrected),
                [better, same, worse].map(share).join(" / "),
            ];
            rows.push(row.map(Cell::from).into());
        }
    }
    let interval = format!("{:.0} % interval", 100.0 * comparison.confidence);
    let columns = [
        "metric",
        "method",
        "difference",
        "relative",
        &interval,
        "t p",
        "Wilcoxon p",
        "% better / same / worse",
    ];
    let title = format!("Against {}, paired over {} users", comparison.baseline, thousands(comparison.users));
    Sheet { title, header: header(&columns, []), texts: 2, rows }
}

fn popularity(comparison: &Comparison) -> Sheet {
    let against = comparison.methods.len() > 1;
    let row = |method: &MethodSummary| {
        let mut row = vec![Cell::from(method.name.clone())];
        for metric in &comparison.metrics {
            let found = method.differences.get(metric);
            for (part, apart) in
                [(&method.head, found.map(|found| found.head)), (&method.tail, found.map(|found| found.tail))]
            {
                let apart = match apart.flatten() {
                    Some(apart) => format!(" ({apart:+.4})"),
                    None => String::new(),
                };
                row.push(Cell::from(mean_std(part.get(metric)) + &apart));
            }
        }
        row
    };
    let columns =
        comparison.metrics.iter().flat_map(|metric| ["head", "tail"].map(|part| format!("{metric} {part}")));
    let title = "The most popular fifth of the items (head) and the least popular (tail)".to_owned();
    Sheet {
        title: if against { format!("{title}; in brackets against {}", comparison.baseline) } else { title },
        header: header(&["method"], columns),
        texts: 1,
        rows: comparison.methods.iter().map(row).collect(),
    }
}

fn lists(comparison: &Comparison) -> Sheet {
    let names: Vec<&String> =
        comparison.methods.first().map(|method| method.lists.keys().collect()).unwrap_or_default();
    let row = |method: &MethodSummary| {
        let values = names.iter().map(|name| Cell::from(mean_std(method.lists.get(*name))));
        std::iter::once(Cell::from(method.name.clone())).chain(values).collect()
    };
    Sheet {
        title: "Properties of the recommendation lists".to_owned(),
        header: header(&["method"], names.iter().map(|name| (*name).clone())),
        texts: 1,
        rows: comparison.methods.iter().map(row).collect(),
    }
}

fn header(texts: &[&str], more: impl IntoIterator<Item = String>) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).chain(more).collect()
}

fn mean_std(value: Option<&MeanStd>) -> String {
    value.map_or_else(|| "–".to_owned(), MeanStd::to_string)
}

fn p_value(p: f64) -> String {
    if p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}
