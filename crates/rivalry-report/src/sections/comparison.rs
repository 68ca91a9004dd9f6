//! Test metrics of the losses as bars, and the ablation of DSL.

use super::{change_bar, main_metrics, mean_bar};
use crate::chart::{BarChart, BarSeries, Marks};
use crate::draw::ColorRole;
use crate::group::{Group, LossRuns, Setting};
use crate::page::{Block, Figure, Section};
use crate::published::published;
use crate::summary::percent;

pub(super) fn section(groups: &[Group<'_>]) -> Section {
    let figures = groups.iter().flat_map(|group| [losses(group), ablation(group)]);
    let blocks = figures.flatten().map(Block::Figure).collect();
    Section { id: "comparison", title: "Comparison of losses", blocks }
}

fn losses(group: &Group<'_>) -> Option<Figure> {
    let rows: Vec<_> = group.selected_rows().collect();
    let metric = group.metric();
    let bars: Vec<_> = rows.iter().map(|row| mean_bar(row.setting.test(metric))).collect();
    if bars.iter().flatten().count() < 2 {
        return None;
    }
    let has_deviations = bars.iter().flatten().any(|bar| bar.deviation.is_some());
    let marks: Vec<Option<f64>> =
        rows.iter().map(|row| published(row.setting.runs[0])?.published.get(&metric).copied()).collect();
    let has_marks = marks.iter().any(Option::is_some);
    let series = BarSeries { name: "measured".to_owned(), color: ColorRole::Series(0), bars };
    let chart = BarChart {
        x_title: format!("{metric}, test"),
        categories: rows.iter().map(|row| row.loss.name.clone()).collect(),
        series: vec![series],
        marks: has_marks.then(|| Marks { name: "published".to_owned(), values: marks }),
        format: |value| format!("{value:.4}"),
    };
    let mut caption = format!("Test {metric} of each loss on {}.", group.label);
    if has_deviations {
        caption += " Error bars: standard deviation over seeds.";
    }
    if has_marks {
        caption += " Diamonds: published values.";
    }
    caption += &settings_tried(rows.iter().map(|row| row.loss));
    Some(Figure {
        title: format!("Test {metric}, {}", group.label),
        caption,
        scene: chart.draw(),
        runs: rows.iter().flat_map(|row| row.setting.run_indices()).collect(),
    })
}

/// The change of each branch of DSL relative to SL.
fn ablation(group: &Group<'_>) -> Option<Figure> {
    let sl = group.selected("sl")?;
    let branches: Vec<(&str, &Setting<'_>)> = ["dsl-ca", "dsl-kappa", "dsl"]
        .into_iter()
        .filter_map(|loss| Some((loss, group.selected(loss)?)))
        .collect();
    if branches.len() < 2 {
        return None;
    }
    let metrics = main_metrics(group);
    let series = metrics.iter().zip([1, 0]).map(|(&metric, color)| BarSeries {
        name: metric.to_string(),
        color: ColorRole::Series(color),
        bars: branches.iter().map(|(_, setting)| change_bar(setting.test(metric), sl.test(metric))).collect(),
    });
    let chart = BarChart {
        x_title: "change relative to sl, %".to_owned(),
        categories: branches.iter().map(|(loss, _)| (*loss).to_owned()).collect(),
        series: series.collect(),
        marks: None,
        format: percent,
    };
    let settings = branches.iter().map(|(_, setting)| *setting).chain([sl]);
    let compared = group
        .losses
        .iter()
        .filter(|loss| loss.name == "sl" || branches.iter().any(|(branch, _)| *branch == loss.name));
    let caption = format!(
        "Test metrics of DSL and its two branches relative to SL on {}: dsl-ca has only the competition-aware temperature, dsl-kappa only the scales κ of the negatives, dsl both.{}",
        group.label,
        settings_tried(compared)
    );
    Some(Figure {
        title: format!("Ablation of DSL, {}", group.label),
        caption,
        scene: chart.draw(),
        runs: settings.flat_map(|setting| setting.run_indices()).collect(),
    })
}

/// How many settings of each loss were tried, if the numbers differ: a larger search favours its loss.
fn settings_tried<'l, 'a: 'l>(losses: impl Iterator<Item = &'l LossRuns<'a>>) -> String {
    let losses: Vec<&LossRuns<'_>> = losses.collect();
    if losses.windows(2).all(|two| two[0].tried == two[1].tried) {
        return String::new();
    }
    let all: Vec<String> = losses.iter().map(|loss| format!("{} {}", loss.name, loss.tried)).collect();
    format!(" Settings tried: {}.", all.join(", "))
}
