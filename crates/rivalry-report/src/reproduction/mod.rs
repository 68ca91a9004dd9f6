//! The measured cells of the published tables beside the published values, as Markdown.

mod figures;
mod overview;

pub use figures::reproduction_figures;

use rivalry::eval::{MetricAt, Metrics};
use std::collections::BTreeSet;

use rivalry::loss::LOSSES;
use rivalry::params::{Param, shown};
use rivalry_runs::presets::CellKey;
use rivalry_runs::reproduce::{CellResult, Plan};
use rivalry_runs::stats::MeanStd;

use crate::summary::{percent, relative_change};
use crate::table::{Table, TableCell, TableColumn};

/// DSL and its branches alone.
const BRANCHES: [&str; 3] = ["dsl-ca", "dsl-kappa", "dsl"];
const RECALL: MetricAt = MetricAt::recall(20);
const NDCG: MetricAt = MetricAt::ndcg(20);

/// All tables that can be made from the measured cells, and the cells that were left out.
pub fn reproduction_markdown(measured: &[CellResult], plan: &Plan) -> String {
    let mut blocks = Vec::new();
    let without_noise = without_noise(measured);
    let groups: BTreeSet<(&str, &str)> =
        without_noise.iter().map(|cell| (&*cell.key.data, &*cell.key.model)).collect();
    if groups.len() > 1 {
        blocks.extend(overview::overview(&without_noise));
    }
    for (data, backbone) in groups {
        let in_group = |cell: &&&CellResult| (&*cell.key.data, &*cell.key.model) == (data, backbone);
        let cells: Vec<&CellResult> = without_noise.iter().filter(in_group).copied().collect();
        blocks.push(format!("## {data}, {backbone}"));
        if data.ends_with("-popularity") {
            blocks.extend(popularity_shift(&cells));
        } else {
            blocks.extend(performance(&cells));
            blocks.extend(ablation(&cells).map(|table| table.markdown()));
            blocks.extend(head_and_tail(&cells).map(|table| table.markdown()));
        }
    }
    for kind in [Noise::FalsePositives, Noise::FalseNegatives] {
        blocks.extend(noise(measured, kind).map(|table| table.markdown()));
    }
    blocks.extend(left_out(plan));
    blocks.iter().map(|block| format!("{block}\n\n")).collect()
}

fn without_noise(measured: &[CellResult]) -> Vec<&CellResult> {
    measured.iter().filter(|cell| cell.false_positives + cell.false_negatives == 0.0).collect()
}

/// A column of a table with one row per measured cell.
struct CellColumn {
    column: TableColumn,
    cell: fn(&CellResult) -> TableCell,
}

fn text(title: &str, cell: fn(&CellResult) -> TableCell) -> CellColumn {
    CellColumn { column: TableColumn::text(title), cell }
}

fn number(title: &str, cell: fn(&CellResult) -> TableCell) -> CellColumn {
    CellColumn { column: TableColumn::number(title), cell }
}

fn table(cells: &[&CellResult], columns: Vec<CellColumn>) -> Table {
    let row = |cell: &&CellResult| columns.iter().map(|column| (column.cell)(cell)).collect();
    let rows = cells.iter().map(row).collect();
    Table { caption: String::new(), columns: columns.into_iter().map(|column| column.column).collect(), rows }
}

fn performance(cells: &[&CellResult]) -> Vec<String> {
    let columns = vec![
        text("loss", marked),
        text("settings", |cell| TableCell::new(settings(cell))),
        number("seeds", |cell| TableCell::new(cell.seeds.to_string())),
        text("epoch", |cell| TableCell::new(epochs(cell))),
        number("Recall@20", |cell| summary_cell(cell.reference.get(&RECALL))),
        number("NDCG@20", |cell| summary_cell(cell.reference.get(&NDCG))),
        number("published", published),
        number("NDCG@20 difference", difference_from_published),
        number("own protocol", |cell| {
            let [recall, ndcg] = [RECALL, NDCG].map(|metric| summary_cell(cell.ours.get(&metric)).text);
            TableCell::new(format!("{recall} / {ndcg}"))
        }),
    ];
    let notes = "Recall@20 and NDCG@20 under the published protocol (training items masked, mean over all users), beside the \
         published values. Own protocol: validation items masked as well, mean over the users with test items.";
    vec![table(cells, columns).markdown(), notes.to_owned() + &marks_note(cells)]
}

/// The loss with the marks of its settings and of its sampler.
fn marked(cell: &CellResult) -> TableCell {
    TableCell::new(format!("{}{}{}", cell.key.loss, if cell.tuned { " *" } else { "" }, shared(cell)))
}

/// The mark of a training with shared negatives.
fn shared(cell: &CellResult) -> &'static str {
    if cell.sampler == "shared" { " †" } else { "" }
}

/// What the marks of these cells mean.
fn marks_note(cells: &[&CellResult]) -> String {
    let mut note = String::new();
    if cells.iter().any(|cell| cell.tuned) {
        note += "\n\\* Settings selected on validation by our own search, where none are published or validation prefers others.";
    }
    if cells.iter().any(|cell| !shared(cell).is_empty()) {
        note +=
            "\n† Negatives shared by the whole batch (`--fast`); the published ones are drawn for each pair.";
    }
    note
}

fn popularity_shift(cells: &[&CellResult]) -> Vec<String> {
    let columns = vec![
        text("loss", marked),
        text("settings", |cell| TableCell::new(settings(cell))),
        number("seeds", |cell| TableCell::new(cell.seeds.to_string())),
        text("epoch selected on test", |cell| TableCell::new(epochs(cell))),
        number("its NDCG@20", |cell| summary_cell(cell.reference.get(&NDCG))),
        number("NDCG@20 of the last epoch", |cell| summary_cell(cell.last.get(&NDCG))),
        number("published", published),
        number("difference", difference_from_published),
    ];
    let notes = "These data sets have no validation set. The published reference selects the epoch on the test set, which is \
                 optimistic; the last epoch is not. The settings are those of the data set without the shift.";
    vec![table(cells, columns).markdown(), notes.to_owned() + &marks_note(cells)]
}

fn ablation(cells: &[&CellResult]) -> Option<Table> {
    let columns = [MetricColumn { title: "NDCG@20", metrics: |cell| &cell.reference }];
    relative_to_sl("Ablation", cells, &BRANCHES, &columns)
}

fn head_and_tail(cells: &[&CellResult]) -> Option<Table> {
    let columns = [
        MetricColumn { title: "head", metrics: |cell| &cell.head },
        MetricColumn { title: "tail", metrics: |cell| &cell.tail },
    ];
    relative_to_sl("NDCG@20 of head and tail items", cells, &["dsl-ca", "dsl"], &columns)
}

/// A column of metrics in a comparison with SL.
struct MetricColumn {
    title: &'static str,
    metrics: fn(&CellResult) -> &Metrics<MeanStd>,
}

/// NDCG@20 of SL and these losses, with the change relative to SL.
fn relative_to_sl(
    caption: &str,
    cells: &[&CellResult],
    losses: &[&str],
    columns: &[MetricColumn],
) -> Option<Table> {
    let (sl, others) = beside_sl(cells, losses)?;
    if columns.iter().any(|column| !(column.metrics)(sl).contains_key(&NDCG)) {
        return None;
    }
    let row = |cell: &CellResult| {
        let mut row = vec![TableCell::new(&cell.key.loss)];
        for column in columns {
            let (value, base) = ((column.metrics)(cell).get(&NDCG), (column.metrics)(sl).get(&NDCG));
            row.extend([summary_cell(value), change_cell(value, base.map(|summary| summary.mean))]);
        }
        row
    };
    let titles = columns.iter().flat_map(|column| [column.title, "relative to SL"]);
    Some(Table {
        caption: caption.to_owned(),
        columns: std::iter::once(TableColumn::text("loss")).chain(titles.map(TableColumn::number)).collect(),
        rows: std::iter::once(sl).chain(others).map(row).collect(),
    })
}

/// SL and those of these losses that were trained with the same sampler, of the cells of one data set and model. If SL was trained
/// with both samplers, with the published one if there is anything to compare; and with the settings that validation prefers to the
/// published ones, if there are such.
fn beside_sl<'a>(cells: &[&'a CellResult], losses: &[&str]) -> Option<(&'a CellResult, Vec<&'a CellResult>)> {
    let mut baselines: Vec<&CellResult> =
        cells.iter().filter(|cell| cell.key.loss == "sl").copied().collect();
    baselines.sort_by_key(|sl| (sl.sampler == "shared", !sl.tuned));
    let others = |sl: &CellResult| -> Vec<&CellResult> {
        let find =
            |loss: &&str| cells.iter().find(|cell| cell.key.loss == **loss && cell.sampler == sl.sampler);
        losses.iter().filter_map(find).copied().collect()
    };
    baselines.into_iter().map(|sl| (sl, others(sl))).find(|(_, others)| !others.is_empty())
}

/// A kind of noise.
#[derive(Clone, Copy)]
enum Noise {
    FalsePositives,
    FalseNegatives,
}

impl Noise {
    fn caption(self) -> &'static str {
        match self {
            Self::FalsePositives => "NDCG@20 by share of false positives in the training set",
            Self::FalseNegatives => "NDCG@20 by probability that a negative is a positive of the user",
        }
    }

    /// The level of this kind of noise; none if there is noise of the other kind.
    fn level(self, cell: &CellResult) -> Option<f64> {
        let (level, other) = match self {
            Self::FalsePositives => (cell.false_positives, cell.false_negatives),
            Self::FalseNegatives => (cell.false_negatives, cell.false_positives),
        };
        (other == 0.0).then_some(level)
    }
}

/// NDCG@20 by level of noise, with the change relative to no noise.
fn noise(measured: &[CellResult], kind: Noise) -> Option<Table> {
    let cells: Vec<(f64, &CellResult)> =
        measured.iter().filter_map(|cell| Some((kind.level(cell)?, cell))).collect();
    let mut levels: Vec<f64> = cells.iter().map(|(level, _)| *level).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    if levels.iter().all(|level| *level == 0.0) {
        return None;
    }
    let mut rows = Vec::new();
    for (_, base) in cells.iter().filter(|(level, _)| *level == 0.0) {
        let same = |cell: &CellResult| (&cell.key, cell.tuned) == (&base.key, base.tuned);
        let curve: Vec<&(f64, &CellResult)> = cells.iter().filter(|(_, cell)| same(cell)).collect();
        if curve.len() < 2 {
            continue;
        }
        let CellKey { data, model, loss } = &base.key;
        let mut row: Vec<TableCell> = [data, model, loss].map(TableCell::new).into();
        for wanted in &levels {
            let cell = curve.iter().find(|(level, _)| level == wanted);
            let value = cell.and_then(|(_, cell)| cell.reference.get(&NDCG));
            let mut text = summary_cell(value);
            if *wanted > 0.0 {
                let change = change_cell(value, base.reference.get(&NDCG).map(|summary| summary.mean));
                text.text += &format!(" ({})", change.text);
            }
            row.push(text);
        }
        rows.push(row);
    }
    let titles = ["data", "model", "loss"].into_iter().map(TableColumn::text);
    Some(Table {
        caption: kind.caption().to_owned(),
        columns: titles.chain(levels.iter().map(|level| TableColumn::number(level.to_string()))).collect(),
        rows,
    })
}

fn left_out(plan: &Plan) -> Option<String> {
    let command = |cell: &CellKey| {
        let (data, backbone, loss) = (&cell.data, &cell.model, &cell.loss);
        format!("- `rivalry sweep --data {data} --model {backbone} --loss {loss} --halving`")
    };
    let commands: Vec<String> = plan.left_out.iter().map(command).collect();
    (!commands.is_empty()).then(|| {
        format!(
            "## Left out\n\nThese cells have no settings, neither published nor from our own searches. To search:\n\n{}",
            commands.join("\n")
        )
    })
}

/// The hyperparameters that are usually searched, and the others that differ from their defaults.
fn settings(cell: &CellResult) -> String {
    let entry = LOSSES.iter().find(|entry| entry.name == cell.key.loss);
    let params = entry.map_or(&[][..], |entry| entry.params);
    let of_loss = cell.loss.iter().filter(|(key, _)| *key != "type").filter_map(|(key, value)| {
        let value = shown(value);
        let is_default = |param: &&Param| param.search.grid.is_empty() && param.default.to_string() == value;
        let param = params.iter().find(|param| param.name == key);
        param.filter(is_default).is_none().then(|| format!("{key} {value}"))
    });
    let decay = (cell.weight_decay > 0.0).then(|| format!("wd {}", cell.weight_decay));
    std::iter::once(format!("lr {}", cell.lr)).chain(decay).chain(of_loss).collect::<Vec<_>>().join(", ")
}

fn epochs(cell: &CellResult) -> String {
    cell.epochs.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

fn summary_cell(summary: Option<&MeanStd>) -> TableCell {
    TableCell::or_dash(summary.map(MeanStd::to_string))
}

fn published(cell: &CellResult) -> TableCell {
    let values = cell.published.get(&RECALL).zip(cell.published.get(&NDCG));
    TableCell::or_dash(values.map(|(recall, ndcg)| format!("{recall:.4} / {ndcg:.4}")))
}

fn difference_from_published(cell: &CellResult) -> TableCell {
    change_cell(cell.reference.get(&NDCG), cell.published.get(&NDCG).copied())
}

/// The change of NDCG@20, in percent.
fn ndcg_change(value: &Metrics<MeanStd>, base: &Metrics<MeanStd>) -> Option<f64> {
    relative_change(value.get(&NDCG)?.mean, base.get(&NDCG)?.mean)
}

fn change_cell(value: Option<&MeanStd>, base: Option<f64>) -> TableCell {
    let change = value.zip(base).and_then(|(value, base)| relative_change(value.mean, base));
    TableCell::or_dash(change.map(percent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(loss: &str, ndcg: f64) -> CellResult {
        let loss: toml::Table = loss.parse().unwrap();
        CellResult {
            key: CellKey::new("health", "mf", loss["type"].as_str().unwrap()),
            loss,
            lr: 0.1,
            weight_decay: 0.0,
            tuned: true,
            sampler: "uniform".to_owned(),
            false_positives: 0.0,
            false_negatives: 0.0,
            seeds: 1,
            epochs: vec![5],
            reference: Metrics::from_iter([(NDCG, MeanStd { mean: ndcg, deviation: None })]),
            ours: Metrics::default(),
            last: Metrics::default(),
            head: Metrics::default(),
            tail: Metrics::default(),
            published: Metrics::from_iter([(RECALL, 0.2), (NDCG, 0.1)]),
        }
    }

    #[test]
    fn settings_are_those_searched_and_those_that_differ_from_the_default() {
        let mut cell = cell("type = 'cap'\ntau = 0.2\nalpha = 3.0\npull = 0.75\nslate = 20", 0.1);
        assert_eq!(settings(&cell), "lr 0.1, alpha 3, pull 0.75, tau 0.2");
        cell.loss["slate"] = 100.into();
        cell.weight_decay = 1e-4;
        assert_eq!(settings(&cell), "lr 0.1, wd 0.0001, alpha 3, pull 0.75, slate 100, tau 0.2");
    }

    #[test]
    fn tables_have_published_values_the_ablation_and_the_noise() {
        let mut noisy = cell("type = 'sl'\ntau = 0.2", 0.05);
        noisy.false_positives = 0.2;
        let measured = [cell("type = 'sl'\ntau = 0.2", 0.1), cell("type = 'dsl'\ntau = 0.2", 0.11), noisy];
        let plan = Plan { planned: Vec::new(), left_out: Vec::new() };
        let text = reproduction_markdown(&measured, &plan);
        for expected in [
            "## health, mf\n\n| loss | settings |",
            "| dsl \\* | lr 0.1, tau 0.2 | 1 | 5 | – | 0.1100 | 0.2000 / 0.1000 | +10.0 % | – / – |",
            "**Ablation**\n\n| loss | NDCG@20 | relative to SL |\n| --- | ---: | ---: |\n| sl | 0.1000 | ±0.0 % |",
            "| data | model | loss | 0 | 0.2 |\n| --- | --- | --- | ---: | ---: |\n| health | mf | sl | 0.1000 | 0.0500 (−50.0 %) |",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        assert!(!text.contains("head") && !text.contains("Left out"), "{text}");
    }

    #[test]
    fn sl_is_compared_with_losses_of_the_same_sampler() {
        let of = |loss: &str, ndcg, sampler: &str| {
            let mut cell = cell(&format!("type = '{loss}'\ntau = 0.2"), ndcg);
            cell.key.data = "gowalla".to_owned();
            cell.sampler = sampler.to_owned();
            cell
        };
        let measured = [
            of("sl", 0.1, "uniform"),
            of("sl", 0.2, "shared"),
            of("dsl", 0.22, "shared"),
            of("dsl-kappa", 0.19, "shared"),
        ];
        let text = reproduction_markdown(&measured, &Plan { planned: Vec::new(), left_out: Vec::new() });
        assert!(text.contains("| dsl | 0.2200 | +10.0 % |"), "{text}");
        let figures = reproduction_figures(&measured);
        let names: Vec<&str> = figures.iter().map(|(name, _)| &**name).collect();
        // The cells have no metrics of popular and rare items.
        assert_eq!(names, ["gain-of-dsl", "ablation"]);
        let svg = figures[1].1.svg();
        assert!(svg.contains("+10.0 %") && svg.contains("−5.0 %"), "{svg}");
        assert!(reproduction_figures(&measured[..1]).is_empty());
    }

    #[test]
    fn tuned_settings_of_sl_are_the_baseline_and_published_ones_are_compared_with_the_published_value() {
        let of = |loss: &str, ndcg, tuned: bool| {
            let mut cell = cell(&format!("type = '{loss}'\ntau = 0.2"), ndcg);
            (cell.key.data, cell.tuned) = ("amazon2014-movie".to_owned(), tuned);
            cell
        };
        let mut other = of("sl", 0.1, false);
        other.key.data = "gowalla".to_owned();
        let measured = [of("sl", 0.08, false), of("sl", 0.1, true), of("dsl", 0.11, true), other];
        let text = reproduction_markdown(&measured, &Plan { planned: Vec::new(), left_out: Vec::new() });
        for expected in [
            "| movie | mf | NDCG@20 | 1, 1 | ±0.0 % | +10.0 % | – |",
            "| dsl | 0.1100 | +10.0 % |",
            "| sl | – | – | 0.0800 ▼",
            "| sl | lr 0.1, tau 0.2 | 1 | 5 | – | 0.0800 |",
            "| sl \\* | lr 0.1, tau 0.2 | 1 | 5 | – | 0.1000 |",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }

    #[test]
    fn several_data_sets_have_an_overview_of_all_published_cells() {
        let at = |data: &str, loss: &str, ndcg, sampler: &str| {
            let mut cell = cell(&format!("type = '{loss}'\ntau = 0.2"), ndcg);
            cell.key.data = data.to_owned();
            cell.sampler = sampler.to_owned();
            cell
        };
        let measured = [
            at("amazon2014-health", "sl", 0.1261, "uniform"),
            at("amazon2014-health", "dsl", 0.1135, "uniform"),
            at("gowalla", "sl", 0.18, "shared"),
            at("gowalla", "sl", 0.1623, "uniform"),
            at("gowalla", "psl", 0.18, "shared"),
        ];
        let text = reproduction_markdown(&measured, &Plan { planned: Vec::new(), left_out: Vec::new() });
        for expected in [
            "4 of the 90 published cells are measured: 2 within 4 % of the published NDCG@20, 1 above, 1 below.",
            "| sl | 0.1261 = ±0.0 % | – | – | 0.1623 = ±0.0 % | – |",
            "| psl | – | – | – | 0.1800 ▲ +9.4 % † | – |",
            "| health | mf | NDCG@20 | 1, 1 | ±0.0 % | −10.0 % | – |",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }
}
