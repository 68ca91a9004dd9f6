//! The figures on the test part, loss by loss, beside what was published.

use std::collections::BTreeSet;

use rivalry::eval::reading_order;
use rivalry_runs::stats::MeanStd;

use super::count;
use crate::group::{Group, LossRuns, Setting};
use crate::page::{Block, Cell, Column, Section, Table};
use crate::published::{published, published_protocol};
use crate::summary::{change, over, percent};

pub(super) fn section(groups: &[Group<'_>]) -> Section {
    let mut blocks = Vec::new();
    for group in groups.iter().filter(|group| !group.losses.is_empty()) {
        blocks.push(Block::Heading(group.label.clone()));
        blocks.push(Block::Prose(group.protocol()));
        let mut metrics: Vec<&String> = test_metrics(group).into_iter().collect();
        metrics.sort_by_key(|name| (reading_order(name), *name));
        let main = main_metrics(group);
        let (first, others): (Vec<&String>, Vec<&String>) =
            metrics.into_iter().partition(|metric| main.contains(metric));
        blocks.push(Block::Table(main_table(group, &first)));
        if !others.is_empty() {
            blocks.push(Block::Table(other_table(group, &others)));
        }
    }
    Section { id: "tables", title: "Test figures", blocks }
}

fn test_metrics<'a>(group: &'a Group<'_>) -> BTreeSet<&'a String> {
    let runs = group.rows().flat_map(|(_, setting)| &setting.runs);
    let outcomes = runs.filter_map(|run| run.record.as_ref()).map(|record| &record.outcome);
    outcomes
        .flat_map(|outcome| outcome.test.keys().chain(outcome.beyond.iter().flat_map(|b| b.keys())))
        .collect()
}

/// Recall and NDCG at the length that epochs are chosen by.
fn main_metrics(group: &Group<'_>) -> [String; 2] {
    let ndcg = group.metric();
    [ndcg.replace("NDCG", "Recall"), ndcg]
}

fn main_table(group: &Group<'_>, metrics: &[&String]) -> Table {
    let rows: Vec<(&LossRuns<'_>, &Setting<'_>)> = group.rows().collect();
    let compared = rows.iter().any(|(_, setting)| published(setting.runs[0]).is_some());
    let searched = rows.iter().any(|(loss, _)| group.tried(&loss.loss) > 1);
    let mut columns = vec![Column::text("loss")];
    for metric in metrics {
        columns.push(Column::number(*metric));
        if compared {
            columns.extend([Column::number("published"), Column::number("difference")]);
        }
    }
    columns.extend([Column::number("seeds"), Column::number("epoch")]);
    if searched {
        columns.extend([Column::number("settings tried"), Column::text("setting")]);
    }
    let best = best_of(&rows, metrics);
    let row = |(loss, setting): &(&LossRuns<'_>, &Setting<'_>)| {
        let mut cells = vec![Cell::plain(&loss.loss)];
        for (metric, best) in metrics.iter().zip(&best) {
            let found = setting.test(metric);
            cells.push(measured(found, *best));
            if compared {
                let figure = published(setting.runs[0]).and_then(|cell| cell.published.get(*metric)).copied();
                let difference = found.zip(figure).and_then(|(found, figure)| change(found.mean, figure));
                cells.push(Cell::maybe(figure.map(|figure| format!("{figure:.4}"))));
                cells.push(Cell::maybe(difference.map(percent)));
            }
        }
        cells.extend([Cell::plain(setting.runs.len().to_string()), Cell::plain(epochs(setting))]);
        if searched {
            cells.extend([
                Cell::plain(group.tried(&loss.loss).to_string()),
                Cell::plain(which(loss, setting)),
            ]);
        }
        cells
    };
    Table {
        caption: caption(group, compared, searched),
        columns,
        rows: rows.iter().map(row).collect(),
        runs: group.shown(),
    }
}

/// The other metrics, and those of the lists as a whole.
fn other_table(group: &Group<'_>, metrics: &[&String]) -> Table {
    let rows: Vec<(&LossRuns<'_>, &Setting<'_>)> = group.rows().collect();
    let columns =
        std::iter::once(Column::text("loss")).chain(metrics.iter().map(|metric| Column::number(*metric)));
    let best = best_of(&rows, metrics);
    let row = |(loss, setting): &(&LossRuns<'_>, &Setting<'_>)| {
        let name = match loss.chosen {
            Some(_) => loss.loss.clone(),
            None => format!("{} ({})", loss.loss, which(loss, setting)),
        };
        let figures = metrics.iter().zip(&best).map(|(metric, best)| {
            let beyond = !is_test(setting, metric);
            let found = if beyond { of_lists(setting, metric) } else { setting.test(metric) };
            // More coverage or popularity is neither better nor worse.
            measured(found, if beyond { f64::NAN } else { *best })
        });
        std::iter::once(Cell::plain(name)).chain(figures).collect()
    };
    Table {
        caption: "The other metrics of the same runs, on the test part.".to_owned(),
        columns: columns.collect(),
        rows: rows.iter().map(row).collect(),
        runs: group.shown(),
    }
}

fn is_test(setting: &Setting<'_>, metric: &str) -> bool {
    setting.runs.iter().any(|run| run.test(metric).is_some())
}

fn of_lists(setting: &Setting<'_>, metric: &str) -> Option<MeanStd> {
    over(&setting.runs, |run| run.record.as_ref()?.outcome.beyond.as_ref()?.get(metric).copied())
}

/// The highest mean of each metric.
fn best_of(rows: &[(&LossRuns<'_>, &Setting<'_>)], metrics: &[&String]) -> Vec<f64> {
    let best = |metric: &&String| {
        rows.iter()
            .filter_map(|(_, setting)| setting.test(metric))
            .map(|s| s.mean)
            .fold(f64::NEG_INFINITY, f64::max)
    };
    metrics.iter().map(best).collect()
}

fn measured(found: Option<MeanStd>, best: f64) -> Cell {
    let strong = found.is_some_and(|summary| summary.mean == best);
    Cell { strong, ..Cell::maybe(found.map(|summary| summary.to_string())) }
}

/// The epochs that were kept, the least and the greatest.
fn epochs(setting: &Setting<'_>) -> String {
    let all = setting
        .runs
        .iter()
        .filter_map(|run| Some(run.record.as_ref()?.outcome.training.as_ref()?.best_epoch));
    let all: Vec<usize> = all.collect();
    match (all.iter().min(), all.iter().max()) {
        (Some(least), Some(most)) if least < most => format!("{least}–{most}"),
        (Some(epoch), _) => epoch.to_string(),
        _ => "–".to_owned(),
    }
}

fn which(loss: &LossRuns<'_>, setting: &Setting<'_>) -> String {
    setting.runs[0].settings.show(&loss.varied)
}

fn caption(group: &Group<'_>, compared: bool, searched: bool) -> String {
    let seeds = group.rows().any(|(_, setting)| setting.runs.len() > 1);
    let mut text = format!("Test figures on {}", group.label);
    text += if seeds {
        ", mean ± standard deviation over seeds; the best in bold."
    } else {
        "; the best in bold."
    };
    if searched {
        let metric = group.metric();
        text += &format!(
            " Where several settings of a loss were run, the row is the one with the best {metric} on validation; the test part chose nothing."
        );
    }
    let unchosen: Vec<&LossRuns<'_>> = group.losses.iter().filter(|loss| loss.chosen.is_none()).collect();
    if !unchosen.is_empty() {
        let names: Vec<String> =
            unchosen.iter().map(|l| format!("{} ({})", l.loss, count(l.settings.len(), "setting"))).collect();
        text += &format!(
            " No validation figures to choose by, so every setting has its row: {}.",
            names.join(", ")
        );
    }
    if compared {
        text += match published_protocol(group.runs[0]) {
            true => " Differences are relative to the published figures.",
            false => {
                " Differences are relative to the published figures, which were measured with eval.mask = \"train\" and eval.average = \"all\": another protocol than this table's, so they are not like for like."
            }
        };
    }
    text
}
