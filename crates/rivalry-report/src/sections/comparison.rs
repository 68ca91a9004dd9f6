//! Losses side by side, and the ablation of DSL.

use crate::chart::{BarSeries, Bars};
use crate::draw::Ink;
use crate::group::{Group, LossRuns, Setting};
use crate::page::{Block, Figure, Section};
use crate::published::published;
use crate::summary::{change, percent};

pub(super) fn section(groups: &[Group<'_>]) -> Section {
    let figures = groups.iter().flat_map(|group| [side_by_side(group), ablation(group)]);
    let blocks = figures.flatten().map(Block::Figure).collect();
    Section { id: "comparison", title: "Losses side by side", blocks }
}

/// Only what validation chose is compared.
fn chosen<'g, 'a>(group: &'g Group<'a>) -> Vec<(&'g LossRuns<'a>, &'g Setting<'a>)> {
    group.rows().filter(|(loss, _)| loss.chosen.is_some()).collect()
}

fn side_by_side(group: &Group<'_>) -> Option<Figure> {
    let rows = chosen(group);
    let metric = group.metric();
    let values: Vec<_> =
        rows.iter().map(|(_, setting)| setting.test(&metric).map(|s| (s.mean, s.deviation))).collect();
    if values.iter().flatten().count() < 2 {
        return None;
    }
    let marks: Vec<Option<f64>> =
        rows.iter().map(|(_, setting)| published(setting.runs[0])?.published.get(&metric).copied()).collect();
    let published = marks.iter().any(Option::is_some);
    let whiskers = values.iter().flatten().any(|(_, deviation)| deviation.is_some());
    let series = BarSeries { name: "measured".to_owned(), ink: Ink::Series(0), values };
    let bars = Bars {
        axis: format!("{metric}, test"),
        categories: rows.iter().map(|(loss, _)| loss.loss.clone()).collect(),
        series: vec![series],
        marks: published.then(|| ("published".to_owned(), marks)),
        write: |value| format!("{value:.4}"),
    };
    let mut caption = format!("Test {metric} of each loss on {}.", group.label);
    if whiskers {
        caption += " Whiskers: standard deviation over seeds.";
    }
    if published {
        caption += " Diamonds: published figures.";
    }
    caption += &tried(group, rows.iter().map(|(loss, _)| &*loss.loss));
    let runs = rows.iter().flat_map(|(_, setting)| setting.runs.iter().map(|run| run.number)).collect();
    Some(Figure { title: format!("Test {metric}, {}", group.label), caption, scene: bars.draw(), runs })
}

/// What each branch of DSL adds to SL.
fn ablation(group: &Group<'_>) -> Option<Figure> {
    let base = group.chosen("sl")?;
    let parts: Vec<(&str, &Setting<'_>)> = ["dsl-ca", "dsl-kappa", "dsl"]
        .into_iter()
        .filter_map(|loss| Some((loss, group.chosen(loss)?)))
        .collect();
    if parts.len() < 2 {
        return None;
    }
    let ndcg = group.metric();
    let metrics = [ndcg.replace("NDCG", "Recall"), ndcg];
    let against = |setting: &Setting<'_>, metric: &str| {
        let (own, base) = (setting.test(metric)?, base.test(metric)?);
        Some((change(own.mean, base.mean)?, None))
    };
    let series = metrics.iter().zip([1, 0]).map(|(metric, ink)| BarSeries {
        name: metric.clone(),
        ink: Ink::Series(ink),
        values: parts.iter().map(|(_, setting)| against(setting, metric)).collect(),
    });
    let bars = Bars {
        axis: "change against sl, %".to_owned(),
        categories: parts.iter().map(|(loss, _)| (*loss).to_owned()).collect(),
        series: series.collect(),
        marks: None,
        write: percent,
    };
    let all = parts.iter().map(|(_, setting)| *setting).chain([base]);
    let runs = all.flat_map(|setting| setting.runs.iter().map(|run| run.number)).collect();
    let names = parts.iter().map(|(loss, _)| *loss).chain(["sl"]);
    let caption = format!(
        "What the branches of DSL change against SL on {}: dsl-ca has the competition-aware temperature alone, dsl-kappa the scales of the negatives alone, dsl both.{}",
        group.label,
        tried(group, names)
    );
    Some(Figure { title: format!("Ablation of DSL, {}", group.label), caption, scene: bars.draw(), runs })
}

/// How hard each loss was searched for its setting, where that differs: a loss with more tries has had more luck.
fn tried<'a>(group: &Group<'_>, losses: impl Iterator<Item = &'a str>) -> String {
    let tries =
        |loss: &str| group.losses.iter().find(|runs| runs.loss == loss).map_or(0, |runs| runs.settings.len());
    let all: Vec<(&str, usize)> = losses.map(|loss| (loss, tries(loss))).collect();
    if all.windows(2).all(|two| two[0].1 == two[1].1) {
        return String::new();
    }
    let all: Vec<String> = all.iter().map(|(loss, tries)| format!("{loss} {tries}")).collect();
    format!(" Settings tried: {}.", all.join(", "))
}
