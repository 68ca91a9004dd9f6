//! Figures of the measured cells: the gain of DSL over SL, its two branches alone, popular and rare items.

use rivalry::eval::Metrics;
use rivalry_runs::reproduce::CellResult;
use rivalry_runs::stats::MeanStd;

use super::overview::{groups, short};
use super::{BRANCHES, NDCG, beside_sl, ndcg_change, without_noise};
use crate::chart::{Bar, BarChart, BarSeries, Marks};
use crate::draw::ColorRole;
use crate::page::Figure;
use crate::summary::{percent, relative_change};

/// The figures that can be drawn from the measured cells, each with the name of its file without the extension.
pub fn reproduction_figures(measured: &[CellResult]) -> Vec<(String, Figure)> {
    let measured = without_noise(measured);
    let mut figures = Vec::new();
    figures.extend(gain(&measured).map(|figure| ("gain-of-dsl".to_owned(), figure)));
    figures.extend(ablation(&measured).map(|figure| ("ablation".to_owned(), figure)));
    for model in ["mf", "lightgcn"] {
        figures
            .extend(head_and_tail(&measured, model).map(|figure| (format!("head-and-tail-{model}"), figure)));
    }
    figures
}

/// SL and some losses of one data set and model.
struct Compared<'a> {
    data: &'static str,
    model: &'static str,
    sl: &'a CellResult,
    others: Vec<&'a CellResult>,
}

impl Compared<'_> {
    fn label(&self) -> String {
        format!("{}, {}", short(self.data), self.model)
    }

    /// The change of NDCG@20 relative to SL, in percent.
    fn change(&self, loss: &str, metrics: fn(&CellResult) -> &Metrics<MeanStd>) -> Option<Bar> {
        let cell = self.others.iter().find(|cell| cell.key.loss == loss)?;
        Some(Bar { value: ndcg_change(metrics(cell), metrics(self.sl))?, deviation: None })
    }
}

/// The data sets and models for which SL and at least one of these losses were measured.
fn compared<'a>(measured: &[&'a CellResult], losses: &[&str]) -> Vec<Compared<'a>> {
    let groups = groups().into_iter();
    let found = groups.filter_map(|(data, model)| {
        let in_group = |cell: &&&CellResult| (&*cell.key.data, &*cell.key.model) == (data, model);
        let cells: Vec<&CellResult> = measured.iter().filter(in_group).copied().collect();
        beside_sl(&cells, losses).map(|(sl, others)| Compared { data, model, sl, others })
    });
    found.collect()
}

fn gain(measured: &[&CellResult]) -> Option<Figure> {
    let rows = compared(measured, &["dsl"]);
    let published = |row: &Compared<'_>| {
        relative_change(*row.others[0].published.get(&NDCG)?, *row.sl.published.get(&NDCG)?)
    };
    let marks = rows.iter().map(published).collect();
    let series = vec![BarSeries {
        name: "measured".to_owned(),
        color: ColorRole::Series(0),
        bars: rows.iter().map(|row| row.change("dsl", |cell| &cell.reference)).collect(),
    }];
    figure(
        "The gain of DSL over SL, published and measured",
        rows.iter().map(Compared::label).collect(),
        series,
        Some(Marks { name: "published".to_owned(), values: marks }),
    )
}

fn ablation(measured: &[&CellResult]) -> Option<Figure> {
    let rows = compared(measured, &BRANCHES);
    let series = BRANCHES.iter().enumerate().map(|(index, loss)| BarSeries {
        name: (*loss).to_owned(),
        color: ColorRole::Series(index),
        bars: rows.iter().map(|row| row.change(loss, |cell| &cell.reference)).collect(),
    });
    let labels = rows.iter().map(Compared::label).collect();
    figure("DSL and its branches alone, relative to SL", labels, series.collect(), None)
}

fn head_and_tail(measured: &[&CellResult], model: &str) -> Option<Figure> {
    let rows = compared(measured, &["dsl-ca", "dsl"]);
    let rows: Vec<(&Compared<'_>, &str)> = rows
        .iter()
        .filter(|row| row.model == model)
        .flat_map(|row| row.others.iter().map(move |cell| (row, &*cell.key.loss)))
        .collect();
    let bucket = |name: &str, color, metrics: fn(&CellResult) -> &Metrics<MeanStd>| BarSeries {
        name: name.to_owned(),
        color: ColorRole::Series(color),
        bars: rows.iter().map(|(row, loss)| row.change(loss, metrics)).collect(),
    };
    let series = vec![bucket("head", 0, |cell| &cell.head), bucket("tail", 1, |cell| &cell.tail)];
    let labels = rows.iter().map(|(row, loss)| format!("{}, {loss}", short(row.data))).collect();
    figure(&format!("Head and tail items relative to SL, {model}"), labels, series, None)
}

/// A bar chart of changes of NDCG@20 relative to SL; none without a bar.
fn figure(
    title: &str,
    categories: Vec<String>,
    series: Vec<BarSeries>,
    marks: Option<Marks>,
) -> Option<Figure> {
    series.iter().flat_map(|series| &series.bars).flatten().next()?;
    let x_title = "NDCG@20, change relative to SL, %".to_owned();
    let chart = BarChart { x_title, categories, series, marks, format: percent };
    Some(Figure { title: title.to_owned(), caption: String::new(), scene: chart.draw(), runs: Vec::new() })
}
