//! Test metrics of each loss, beside the published values.

use std::collections::BTreeSet;

use rivalry::eval::MetricAt;
use rivalry_runs::stats::MeanStd;

use super::{all_models, count, main_metrics};
use crate::comparison::GroupComparison;
use crate::group::{Group, LossRuns, Row, Setting};
use crate::page::{Block, RunTable, Section};
use crate::published::{is_published_protocol, published};
use crate::summary::{over_runs, percent, relative_change};
use crate::table::{Table, TableCell, TableColumn};

pub(super) fn section(groups: &[Group<'_>], comparisons: &[GroupComparison]) -> Section {
    let mut blocks = all_models::blocks(groups);
    let groups = groups.iter().zip(comparisons).filter(|(group, _)| !group.losses.is_empty());
    for (group, comparison) in groups {
        blocks.push(Block::Heading(group.label.clone()));
        blocks.push(Block::Paragraph(group.protocol()));
        let main = main_metrics(group);
        let (main, others): (Vec<MetricAt>, Vec<MetricAt>) =
            test_metrics(group).into_iter().partition(|metric| main.contains(metric));
        blocks.push(Block::Table(RunTable { table: main_table(group, &main), runs: group.shown() }));
        if !others.is_empty() {
            blocks.push(Block::Table(RunTable { table: other_table(group, &others), runs: group.shown() }));
        }
        if let Some(table) = comparison.table() {
            blocks.push(Block::Table(RunTable { table, runs: Vec::new() }));
        }
        if let GroupComparison::Impossible(reason) = comparison {
            blocks.push(Block::Paragraph(format!("Differences were not tested: {reason}.")));
        }
    }
    Section { id: "tables", title: "Test metrics", blocks }
}

fn test_metrics(group: &Group<'_>) -> BTreeSet<MetricAt> {
    let runs = group.rows().flat_map(|row| &row.setting.runs);
    let outcomes = runs.filter_map(|run| run.record.as_ref()).map(|record| &record.outcome);
    outcomes
        .flat_map(|outcome| outcome.test.keys().chain(outcome.beyond.iter().flat_map(|b| b.keys())))
        .copied()
        .collect()
}

/// What the main table of a group contains besides the metrics.
#[derive(Clone, Copy)]
struct Extras {
    /// Published values and the differences from them.
    published: bool,
    /// The number of settings tried, and the selected one.
    settings: bool,
}

fn main_table(group: &Group<'_>, metrics: &[MetricAt]) -> Table {
    let rows: Vec<Row<'_, '_>> = group.rows().collect();
    let extras = Extras {
        published: rows.iter().any(|row| published(row.setting.runs[0]).is_some()),
        settings: rows.iter().any(|row| row.loss.tried > 1),
    };
    let mut columns = vec![TableColumn::text("loss")];
    for metric in metrics {
        columns.push(TableColumn::number(metric.to_string()));
        if extras.published {
            columns.extend([TableColumn::number("published"), TableColumn::number("difference")]);
        }
    }
    columns.extend([TableColumn::number("seeds"), TableColumn::number("epoch")]);
    if extras.settings {
        columns.extend([TableColumn::number("settings tried"), TableColumn::text("setting")]);
    }
    let best = best_means(&rows, metrics);
    let row = |row: &Row<'_, '_>| {
        let setting = row.setting;
        let mut cells = vec![TableCell::new(&row.loss.name)];
        for (&metric, best) in metrics.iter().zip(&best) {
            let measured = setting.test(metric);
            cells.push(metric_cell(measured, *best));
            if extras.published {
                let value = published(setting.runs[0]).and_then(|cell| cell.published.get(&metric)).copied();
                let change =
                    measured.zip(value).and_then(|(measured, value)| relative_change(measured.mean, value));
                cells.push(TableCell::or_dash(value.map(|value| format!("{value:.4}"))));
                cells.push(TableCell::or_dash(change.map(percent)));
            }
        }
        cells.extend([TableCell::new(setting.runs.len().to_string()), TableCell::new(epochs(setting))]);
        if extras.settings {
            cells.extend([
                TableCell::new(row.loss.tried.to_string()),
                TableCell::or_dash(Some(row.shown_settings()).filter(|settings| !settings.is_empty())),
            ]);
        }
        cells
    };
    Table { caption: caption(group, extras), columns, rows: rows.iter().map(row).collect() }
}

/// The other metrics, including those of the recommended lists as a whole, such as coverage.
fn other_table(group: &Group<'_>, metrics: &[MetricAt]) -> Table {
    let rows: Vec<Row<'_, '_>> = group.rows().collect();
    let columns = std::iter::once(TableColumn::text("loss"))
        .chain(metrics.iter().map(|metric| TableColumn::number(metric.to_string())));
    let best = best_means(&rows, metrics);
    let row = |row: &Row<'_, '_>| {
        let name = match row.loss.selected {
            Some(_) => row.loss.name.clone(),
            None => format!("{} ({})", row.loss.name, row.shown_settings()),
        };
        let cells = metrics.iter().zip(&best).map(|(&metric, best)| {
            if row.setting.runs.iter().any(|run| run.test(metric).is_some()) {
                metric_cell(row.setting.test(metric), *best)
            } else {
                // Of coverage or popularity, more is neither better nor worse.
                metric_cell(list_metric(row.setting, metric), f64::NAN)
            }
        });
        std::iter::once(TableCell::new(name)).chain(cells).collect()
    };
    Table {
        caption: "Further test metrics of the same runs.".to_owned(),
        columns: columns.collect(),
        rows: rows.iter().map(row).collect(),
    }
}

/// A metric of the recommended lists as a whole.
fn list_metric(setting: &Setting<'_>, metric: MetricAt) -> Option<MeanStd> {
    over_runs(&setting.runs, |run| run.record.as_ref()?.outcome.beyond.as_ref()?.get(&metric).copied())
}

/// The highest mean of each metric.
pub(super) fn best_means(rows: &[Row<'_, '_>], metrics: &[MetricAt]) -> Vec<f64> {
    let best = |&metric: &MetricAt| {
        let means = rows.iter().filter_map(|row| row.setting.test(metric)).map(|summary| summary.mean);
        means.fold(f64::NEG_INFINITY, f64::max)
    };
    metrics.iter().map(best).collect()
}

pub(super) fn metric_cell(summary: Option<MeanStd>, best: f64) -> TableCell {
    let bold = summary.is_some_and(|summary| summary.mean == best);
    TableCell { bold, ..TableCell::or_dash(summary.map(|summary| summary.to_string())) }
}

/// The range of the selected epochs over the seeds.
fn epochs(setting: &Setting<'_>) -> String {
    let epochs: Vec<usize> = setting.runs.iter().filter_map(|run| run.best_epoch()).collect();
    match (epochs.iter().min(), epochs.iter().max()) {
        (Some(first), Some(last)) if first < last => format!("{first}–{last}"),
        (Some(epoch), _) => epoch.to_string(),
        _ => "–".to_owned(),
    }
}

fn caption(group: &Group<'_>, extras: Extras) -> String {
    let has_seeds = group.rows().any(|row| row.setting.runs.len() > 1);
    let mut text = format!("Test metrics on {}", group.label);
    text += if has_seeds {
        ", mean ± standard deviation over seeds; the best in bold."
    } else {
        "; the best in bold."
    };
    if extras.settings {
        text += &format!(
            " Of several settings of a loss, the table shows the one with the best validation {}; test metrics are never used for selection.",
            group.metric()
        );
    }
    let unselected: Vec<&LossRuns<'_>> = group.losses.iter().filter(|loss| loss.selected.is_none()).collect();
    if !unselected.is_empty() {
        let names: Vec<String> = unselected
            .iter()
            .map(|loss| format!("{} ({})", loss.name, count(loss.settings.len(), "setting")))
            .collect();
        text += &format!(" Without validation metrics, every setting has its own row: {}.", names.join(", "));
    }
    if extras.published {
        text += match is_published_protocol(group.runs[0]) {
            true => " Differences are relative to the published values.",
            false => {
                " Differences are relative to the published values, which were measured under another protocol (eval.mask = \"train\", eval.average = \"all\") and are not directly comparable."
            }
        };
    }
    text
}
