//! Test metrics of popular (head) and rare (tail) items.

use rivalry::eval::MetricAt;
use rivalry_runs::stats::MeanStd;

use super::{change_bar, mean_bar};
use crate::chart::{Bar, BarChart, BarSeries};
use crate::draw::ColorRole;
use crate::group::{Group, Row, Setting};
use crate::page::{Block, Figure, Section};
use crate::run::Run;
use crate::summary::{over_runs, percent};

pub(super) fn section(groups: &[Group<'_>]) -> Section {
    let blocks = groups.iter().flat_map(figures).map(Block::Figure).collect();
    Section { id: "head-tail", title: "Head and tail items", blocks }
}

/// A popularity bucket of the items.
#[derive(Clone, Copy)]
enum Bucket {
    Head,
    Tail,
}

impl Bucket {
    /// The summary of a test metric over the runs of a setting.
    fn summary(self, setting: &Setting<'_>, metric: MetricAt) -> Option<MeanStd> {
        over_runs(&setting.runs, |run: &Run| {
            let outcome = &run.record.as_ref()?.outcome;
            let bucket = match self {
                Self::Head => &outcome.head,
                Self::Tail => &outcome.tail,
            };
            bucket.as_ref()?.metrics.get(&metric).copied()
        })
    }
}

fn figures(group: &Group<'_>) -> Vec<Figure> {
    let metric = group.metric();
    let is_measured = |row: &Row<'_, '_>| {
        [Bucket::Head, Bucket::Tail].iter().any(|bucket| bucket.summary(row.setting, metric).is_some())
    };
    let rows: Vec<Row<'_, '_>> = group.selected_rows().filter(is_measured).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let figure = |title: String, caption: String, chart: &BarChart| Figure {
        title: format!("{title}, {}", group.label),
        caption,
        scene: chart.draw(),
        runs: rows.iter().flat_map(|row| row.setting.run_indices()).collect(),
    };
    let absolute = BarChart {
        x_title: format!("{metric}, test"),
        categories: rows.iter().map(|row| row.loss.name.clone()).collect(),
        series: head_and_tail(&rows, |bucket, setting| mean_bar(bucket.summary(setting, metric))),
        marks: None,
        format: |value| format!("{value:.4}"),
    };
    let caption = format!(
        "Test {metric} on {} for the most popular 20\u{a0}% of the items (head) and the least popular 20\u{a0}% (tail), each averaged over the users with such a test item.",
        group.label
    );
    let mut figures = vec![figure(format!("{metric} of head and tail"), caption, &absolute)];
    let (sl, others): (Vec<Row<'_, '_>>, Vec<Row<'_, '_>>) =
        rows.iter().partition(|row| row.loss.name == "sl");
    if let (Some(sl), false) = (sl.first(), others.is_empty()) {
        let change = |bucket: Bucket, setting: &Setting<'_>| {
            change_bar(bucket.summary(setting, metric), bucket.summary(sl.setting, metric))
        };
        let relative = BarChart {
            x_title: "change relative to sl, %".to_owned(),
            categories: others.iter().map(|row| row.loss.name.clone()).collect(),
            series: head_and_tail(&others, change),
            marks: None,
            format: percent,
        };
        let caption = format!("The same metrics relative to sl on {}.", group.label);
        figures.push(figure("Head and tail relative to sl".to_owned(), caption, &relative));
    }
    figures
}

fn head_and_tail(rows: &[Row<'_, '_>], bar: impl Fn(Bucket, &Setting<'_>) -> Option<Bar>) -> Vec<BarSeries> {
    let series = |name: &str, color: usize, bucket: Bucket| BarSeries {
        name: name.to_owned(),
        color: ColorRole::Series(color),
        bars: rows.iter().map(|row| bar(bucket, row.setting)).collect(),
    };
    vec![series("head", 0, Bucket::Head), series("tail", 1, Bucket::Tail)]
}
