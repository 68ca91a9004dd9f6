//! Test metrics by level of noise.

use std::collections::BTreeMap;

use super::LossStyles;
use crate::chart::{DataPoint, LineChart, LineSeries};
use crate::group::{Group, loss_order};
use crate::page::{Block, Figure, Section};
use crate::settings::CONDITIONS;

pub(super) fn section(groups: &[Group<'_>], styles: &LossStyles) -> Section {
    let mut blocks = Vec::new();
    for condition in CONDITIONS {
        let mut families: BTreeMap<String, Vec<&Group<'_>>> = BTreeMap::new();
        for group in groups.iter().filter(|group| !group.losses.is_empty()) {
            families.entry(family_key(group, condition)).or_default().push(group);
        }
        let figures = families.into_values().filter_map(|family| figure(condition, family, styles));
        blocks.extend(figures.map(Block::Figure));
    }
    Section { id: "noise", title: "Robustness to noise", blocks }
}

/// What groups must share to be points of the same curves: everything but the level of this condition.
fn family_key(group: &Group<'_>, condition: &str) -> String {
    let run = group.runs[0];
    let eval = &run.config.eval;
    let others =
        CONDITIONS.iter().filter(|other| **other != condition).map(|other| run.settings.level(other));
    let others: Vec<f64> = others.collect();
    let data = run.settings.data();
    format!("{data}\n{} {:?} {:?} {:?} {others:?}", group.backbone, eval.mask, eval.average, group.select)
}

fn figure(condition: &str, family: Vec<&Group<'_>>, styles: &LossStyles) -> Option<Figure> {
    let mut levels: Vec<(f64, &Group<'_>)> =
        family.into_iter().map(|group| (group.runs[0].settings.level(condition), group)).collect();
    levels.sort_by(|a, b| a.0.total_cmp(&b.0));
    levels.dedup_by_key(|(level, _)| *level);
    if levels.len() < 2 {
        return None;
    }
    let lowest = levels[0].1;
    let metric = lowest.metric();
    let mut runs = Vec::new();
    let mut series: BTreeMap<usize, LineSeries> = BTreeMap::new();
    for (level, group) in &levels {
        for row in group.selected_rows() {
            let Some(test) = row.setting.test(metric) else { continue };
            let name = row.loss.name.clone();
            let style = Some(styles.style(&name));
            let line = series.entry(loss_order(&name)).or_insert(LineSeries {
                name,
                style,
                points: Vec::new(),
                mark: None,
            });
            line.points.push(DataPoint { x: *level, y: test.mean, deviation: test.deviation });
            runs.extend(row.setting.run_indices());
        }
    }
    let meaning = match condition {
        "data.prepare.noise" => "share of false positives added to the training set",
        _ => "probability that a sampled negative is one of the user's positives",
    };
    let data = format!("{}, {}", lowest.data, lowest.backbone);
    let chart = LineChart {
        x_title: condition.to_owned(),
        y_title: format!("{metric}, test"),
        whole_x: false,
        series: series.into_values().collect(),
        context_name: String::new(),
        mark_name: String::new(),
    };
    Some(Figure {
        title: format!("Noise: test {metric} by {condition}, {data}"),
        caption: format!(
            "Test {metric} on {data} by {condition}, the {meaning}. At each level, each loss has the setting selected on validation. Error bars: standard deviation over seeds."
        ),
        scene: chart.draw(),
        runs,
    })
}
