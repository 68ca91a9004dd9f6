//! All models of a data set in one table, where the tables by model have only one of them each.

use std::collections::BTreeSet;

use super::main_metrics;
use super::tables::{best_means, metric_cell};
use crate::group::{Group, Row};
use crate::page::{Block, RunTable};
use crate::table::{Table, TableCell, TableColumn};

/// A table for each data set with several comparable groups.
pub(super) fn blocks(groups: &[Group<'_>]) -> Vec<Block> {
    let mut comparable: Vec<Vec<&Group<'_>>> = Vec::new();
    for group in groups.iter().filter(|group| !group.losses.is_empty()) {
        match comparable.iter_mut().find(|known| known.iter().all(|other| group.is_comparable(other))) {
            Some(known) => known.push(group),
            None => comparable.push(vec![group]),
        }
    }
    let several = comparable.iter().filter(|groups| groups.len() > 1);
    several.flat_map(|groups| [heading(groups[0]), Block::Table(table(groups))]).collect()
}

fn heading(group: &Group<'_>) -> Block {
    Block::Heading(format!("{}, all models", group.data))
}

fn table(groups: &[&Group<'_>]) -> RunTable {
    // Closed-form models are in every group.
    let mut known = BTreeSet::new();
    let rows = groups.iter().flat_map(|group| group.selected_rows());
    let mut rows: Vec<Row<'_, '_>> = rows.filter(|row| known.insert(row.setting.runs[0].index)).collect();
    let valid = |row: &Row<'_, '_>| row.setting.valid.unwrap_or(f64::NEG_INFINITY);
    rows.sort_by(|a, b| valid(b).total_cmp(&valid(a)));
    let (metric, metrics) = (groups[0].metric(), main_metrics(groups[0]));
    let mut columns = vec![TableColumn::text("model"), TableColumn::text("loss")];
    columns.push(TableColumn::number(format!("validation {metric}")));
    columns.extend(metrics.iter().map(|metric| TableColumn::number(metric.to_string())));
    columns.push(TableColumn::number("seeds"));
    let best = best_means(&rows, &metrics);
    let cells = |row: &Row<'_, '_>| {
        let run = row.setting.runs[0];
        let loss = (!run.is_closed_form()).then(|| row.loss.name.clone());
        let model = if loss.is_some() { run.backbone() } else { &*row.loss.name };
        let mut cells = vec![TableCell::new(model), TableCell::or_dash(loss)];
        cells.push(TableCell::or_dash(row.setting.valid.map(|valid| format!("{valid:.4}"))));
        let measured = metrics.iter().zip(&best);
        cells.extend(measured.map(|(&metric, best)| metric_cell(row.setting.test(metric), *best)));
        cells.push(TableCell::new(row.setting.runs.len().to_string()));
        cells
    };
    let caption = format!(
        "Test metrics of all models on {}, in the order of their validation {metric}; the best in bold. Of several settings \
         of a model and loss, the table shows the one with the best validation {metric}.",
        groups[0].data
    );
    let runs = rows.iter().flat_map(|row| row.setting.run_indices()).collect();
    RunTable { table: Table { caption, columns, rows: rows.iter().map(cells).collect() }, runs }
}
