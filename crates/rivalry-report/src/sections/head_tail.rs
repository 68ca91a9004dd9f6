//! Popular and rare items apart.

use rivalry_runs::stats::MeanStd;

use crate::chart::{BarSeries, Bars};
use crate::draw::Ink;
use crate::group::{Group, Setting};
use crate::page::{Block, Figure, Section};
use crate::run::Run;
use crate::summary::{change, over, percent};

pub(super) fn section(groups: &[Group<'_>]) -> Section {
    let blocks = groups.iter().flat_map(figures).map(Block::Figure).collect();
    Section { id: "head-tail", title: "Popular and rare items", blocks }
}

fn figures(group: &Group<'_>) -> Vec<Figure> {
    let metric = group.metric();
    let rows = group.rows().filter(|(loss, _)| loss.chosen.is_some());
    let rows: Vec<(&str, &Setting<'_>)> = rows
        .filter(|(_, setting)| {
            bucket(setting, "head", &metric).is_some() || bucket(setting, "tail", &metric).is_some()
        })
        .map(|(loss, setting)| (&*loss.loss, setting))
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let absolute = Bars {
        axis: format!("{metric}, test"),
        categories: rows.iter().map(|(loss, _)| (*loss).to_owned()).collect(),
        series: both(|name| {
            rows.iter().map(|(_, s)| bucket(s, name, &metric).map(|s| (s.mean, s.deviation))).collect()
        }),
        marks: None,
        write: |value| format!("{value:.4}"),
    };
    let figure = |title: &str, caption: String, bars: &Bars| Figure {
        title: format!("{title}, {}", group.label),
        caption,
        scene: bars.draw(),
        runs: rows.iter().flat_map(|(_, setting)| setting.runs.iter().map(|run| run.number)).collect(),
    };
    let caption = format!(
        "Test {metric} on {} for the most popular fifth of the items (head) and the least popular fifth (tail), each over the users with such a test item.",
        group.label
    );
    let mut figures = vec![figure(&format!("{metric} of head and tail"), caption, &absolute)];
    let base = rows.iter().find(|(loss, _)| *loss == "sl");
    if let (Some((_, base)), true) = (base, rows.len() > 1) {
        let others: Vec<_> = rows.iter().filter(|(loss, _)| *loss != "sl").collect();
        let against = |name: &str| {
            let base = bucket(base, name, &metric);
            let one = |setting: &Setting<'_>| change(bucket(setting, name, &metric)?.mean, base?.mean);
            others.iter().map(|(_, setting)| one(setting).map(|change| (change, None))).collect()
        };
        let relative = Bars {
            axis: "change against sl, %".to_owned(),
            categories: others.iter().map(|(loss, _)| (*loss).to_owned()).collect(),
            series: both(against),
            marks: None,
            write: percent,
        };
        let caption = format!("The same on {}, against sl.", group.label);
        figures.push(figure("Head and tail against sl", caption, &relative));
    }
    figures
}

fn both(values: impl Fn(&str) -> Vec<Option<(f64, Option<f64>)>>) -> Vec<BarSeries> {
    let series = |(name, ink): (&str, usize)| BarSeries {
        name: name.to_owned(),
        ink: Ink::Series(ink),
        values: values(name),
    };
    [("head", 0), ("tail", 1)].map(series).into()
}

fn bucket(setting: &Setting<'_>, name: &str, metric: &str) -> Option<MeanStd> {
    over(&setting.runs, |run: &Run| {
        let outcome = &run.record.as_ref()?.outcome;
        let bucket = if name == "head" { &outcome.head } else { &outcome.tail };
        bucket.as_ref()?.metrics.get(metric).copied()
    })
}
