//! All published cells beside the measured ones, and the gain of DSL over SL, in two tables.

use rivalry_runs::presets::{PaperCell, paper_cells};
use rivalry_runs::reproduce::CellResult;
use rivalry_runs::stats::relative_change_interval;

use super::{NDCG, RECALL, beside_sl, shared};
use crate::summary::{percent, relative_change};
use crate::table::{Table, TableCell, TableColumn};

/// Up to so many percent above or below, a measured value agrees with the published one.
const TOLERANCE: f64 = 4.0;
const SHIFTED: &str = "-popularity";

/// How many of the published cells were measured and agree, each of them, and the gain of DSL over SL.
pub(super) fn overview(measured: &[&CellResult]) -> Vec<String> {
    let groups = groups();
    let rows: Vec<Vec<TableCell>> = losses()
        .into_iter()
        .map(|loss| {
            let cell = |&(data, model): &(&str, &str)| match published(data, model, loss) {
                Some(paper) => compared(paper, find(measured, data, model, loss)),
                None => TableCell::new(""),
            };
            std::iter::once(TableCell::new(loss)).chain(groups.iter().map(cell)).collect()
        })
        .collect();
    let titles = groups.iter().map(|(data, model)| TableColumn::number(format!("{} {model}", short(data))));
    let columns = std::iter::once(TableColumn::text("loss")).chain(titles).collect();
    let cells = Table { caption: String::new(), columns, rows };
    let legend = format!(
        "NDCG@20 in the published protocol and its difference from the published value: = within {TOLERANCE} %, ▲ above, ▼ below, \
         – not measured. † With negatives shared by the whole batch."
    );
    let mut blocks = vec!["## Published and measured".to_owned(), counts(measured), cells.markdown(), legend];
    blocks.extend(gains(measured, &groups));
    blocks
}

/// How many of the published cells were measured, and how they compare.
fn counts(measured: &[&CellResult]) -> String {
    let changes: Vec<f64> = paper_cells()
        .iter()
        .filter_map(|paper| {
            change(paper, find(measured, &paper.key.data, &paper.key.model, &paper.key.loss)?)
        })
        .collect();
    let above = changes.iter().filter(|change| **change > TOLERANCE).count();
    let below = changes.iter().filter(|change| **change < -TOLERANCE).count();
    format!(
        "{} of the {} published cells are measured: {} within {TOLERANCE} % of the published NDCG@20, {above} above, {below} below.",
        changes.len(),
        paper_cells().len(),
        changes.len() - above - below,
    )
}

/// Measured and published gains of DSL over SL, by data set and model, and on average.
fn gains(measured: &[&CellResult], groups: &[(&str, &str)]) -> Vec<String> {
    let mut rows = Vec::new();
    let mut blocks = Vec::new();
    for shifted in [false, true] {
        let mut both: Vec<[f64; 2]> = Vec::new();
        for &(data, model) in groups.iter().filter(|(data, _)| data.ends_with(SHIFTED) == shifted) {
            let in_group = |cell: &&&CellResult| (&*cell.key.data, &*cell.key.model) == (data, model);
            let cells: Vec<&CellResult> = measured.iter().filter(in_group).copied().collect();
            let Some((sl, dsl)) = beside_sl(&cells, &["dsl"]) else { continue };
            let dsl = dsl[0];
            for metric in [RECALL, NDCG] {
                let (Some(base), Some(value)) = (sl.reference.get(&metric), dsl.reference.get(&metric))
                else {
                    continue;
                };
                let measured = gain([Some(base.mean), Some(value.mean)]);
                let published = gain([sl, dsl].map(|cell| cell.published.get(&metric).copied()));
                let (Some(measured), Some(published)) = (measured, published) else { continue };
                both.push([published, measured]);
                let seeds = format!("{}, {}", sl.seeds, dsl.seeds);
                let texts = [short(data).to_owned(), model.to_owned(), metric.to_string(), seeds];
                let interval = relative_change_interval((*base, sl.seeds), (*value, dsl.seeds));
                let interval = interval.map(|ends| ends.map(|end| percent(100.0 * end)).join(" to "));
                let gains =
                    [percent(published), percent(measured), interval.unwrap_or_else(|| "–".to_owned())];
                rows.push(texts.into_iter().chain(gains).map(TableCell::new).collect());
            }
        }
        if both.is_empty() {
            continue;
        }
        let mean = |of: usize| percent(both.iter().map(|gains| gains[of]).sum::<f64>() / both.len() as f64);
        let (what, all) = if shifted { ("with popularity shift", "9.31") } else { ("without shift", "6.22") };
        blocks.push(format!(
            "Mean over the {} gains {what}: published {}, measured {} (published for all data sets, models and metrics: +{all} %).",
            both.len(),
            mean(0),
            mean(1)
        ));
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let texts = ["data", "model", "metric", "seeds of SL, DSL"].map(TableColumn::text);
    let numbers = ["published", "measured", "95 % interval over seeds"].map(TableColumn::number);
    let table = Table { caption: String::new(), columns: texts.into_iter().chain(numbers).collect(), rows };
    let note =
        "SL with the settings that validation prefers, where those are not the published ones.".to_owned();
    let mut all = vec!["## The gain of DSL over SL".to_owned(), table.markdown(), note];
    all.extend(blocks);
    all
}

fn gain([sl, dsl]: [Option<f64>; 2]) -> Option<f64> {
    relative_change(dsl?, sl?)
}

/// A measured cell beside the published one.
fn compared(paper: &PaperCell, measured: Option<&CellResult>) -> TableCell {
    let text = measured.and_then(|cell| {
        let change = change(paper, cell)?;
        let sign = match change {
            change if change > TOLERANCE => "▲",
            change if change < -TOLERANCE => "▼",
            _ => "=",
        };
        Some(format!("{:.4} {sign} {}{}", cell.reference.get(&NDCG)?.mean, percent(change), shared(cell)))
    });
    TableCell::or_dash(text)
}

/// The change from the published NDCG@20 to the measured one, in percent.
fn change(paper: &PaperCell, measured: &CellResult) -> Option<f64> {
    relative_change(measured.reference.get(&NDCG)?.mean, *paper.published.get(&NDCG)?)
}

/// The measured cell; the one with published settings, and with negatives of each pair, if others were trained, too.
fn find<'a>(measured: &[&'a CellResult], data: &str, model: &str, loss: &str) -> Option<&'a CellResult> {
    let same =
        |cell: &&&CellResult| (&*cell.key.data, &*cell.key.model, &*cell.key.loss) == (data, model, loss);
    measured.iter().filter(same).min_by_key(|cell| (cell.tuned, cell.sampler == "shared")).copied()
}

fn published(data: &str, model: &str, loss: &str) -> Option<&'static PaperCell> {
    let same =
        |cell: &&PaperCell| (&*cell.key.data, &*cell.key.model, &*cell.key.loss) == (data, model, loss);
    paper_cells().iter().find(same)
}

/// The data sets and models of the published cells: first those without a shift, model by model.
pub(super) fn groups() -> Vec<(&'static str, &'static str)> {
    let mut groups: Vec<(&str, &str)> = Vec::new();
    for cell in paper_cells() {
        let group = (&*cell.key.data, &*cell.key.model);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups.sort_by_key(|(data, model)| (data.ends_with(SHIFTED), *model != "mf"));
    groups
}

/// The losses of the published cells, in the order of the registry.
fn losses() -> Vec<&'static str> {
    let names = rivalry::loss::LOSSES.iter().map(|entry| entry.name);
    names.filter(|name| paper_cells().iter().any(|cell| cell.key.loss == *name)).collect()
}

pub(super) fn short(data: &str) -> &str {
    data.strip_prefix("amazon2014-").unwrap_or(data)
}
