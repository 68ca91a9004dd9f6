//! What a setting does to the result, on the validation part: this is where settings are chosen.

use std::collections::BTreeMap;

use super::{Looks, count};
use crate::chart::{Heat, Line, Lines};
use crate::group::{Group, LossRuns, Setting};
use crate::page::{Block, Figure, Section};

/// Pairs of keys that are drawn for one loss; a wide search has more than anyone looks at.
const MOST_MAPS: usize = 6;

pub(super) fn section(groups: &[Group<'_>], looks: &Looks) -> Section {
    let mut blocks = Vec::new();
    for group in groups {
        let mut alone: BTreeMap<String, Vec<&LossRuns<'_>>> = BTreeMap::new();
        for loss in &group.losses {
            let (maps, keys) = maps(group, loss);
            blocks.extend(maps.into_iter().map(Block::Figure));
            keys.into_iter().for_each(|key| alone.entry(key).or_default().push(loss));
        }
        blocks.extend(alone.iter().map(|(key, losses)| Block::Figure(curve(group, looks, key, losses))));
    }
    Section { id: "sensitivity", title: "Sensitivity to settings", blocks }
}

/// Heat maps for the pairs of varied numbers that were searched over, and the keys that are in none of them.
fn maps(group: &Group<'_>, loss: &LossRuns<'_>) -> (Vec<Figure>, Vec<String>) {
    let judged: Vec<(&Setting<'_>, f64)> =
        loss.settings.iter().filter_map(|setting| Some((setting, setting.valid?))).collect();
    let is_number = |key: &&String| judged.iter().all(|(setting, _)| number(setting, key).is_some());
    let keys: Vec<&String> = loss.varied.iter().filter(is_number).collect();
    let mut figures = Vec::new();
    let mut covered: Vec<&String> = Vec::new();
    for (at, x) in keys.iter().copied().enumerate() {
        for y in keys.iter().copied().skip(at + 1) {
            if figures.len() < MOST_MAPS
                && let Some(figure) = map(group, loss, &judged, (x, y))
            {
                figures.push(figure);
                covered.extend([x, y]);
            }
        }
    }
    let alone = keys.into_iter().filter(|key| !covered.contains(key) && values(&judged, key).len() > 2);
    (figures, alone.cloned().collect())
}

fn map(
    group: &Group<'_>,
    loss: &LossRuns<'_>,
    judged: &[(&Setting<'_>, f64)],
    (x, y): (&String, &String),
) -> Option<Figure> {
    let (xs, ys) = (values(judged, x), values(judged, y));
    let best = |x_value: f64, y_value: f64| {
        let here =
            judged.iter().filter(|(s, _)| number(s, x) == Some(x_value) && number(s, y) == Some(y_value));
        here.map(|(_, valid)| *valid).max_by(f64::total_cmp)
    };
    let grid: Vec<Vec<Option<f64>>> =
        ys.iter().map(|&y_value| xs.iter().map(|&x_value| best(x_value, y_value)).collect()).collect();
    let filled = grid.iter().flatten().flatten().count();
    // Settings drawn at random fill a grid of all their values hardly at all; then a map shows nothing.
    if xs.len() < 2 || ys.len() < 2 || filled < 4 || filled * 2 < xs.len() * ys.len() {
        return None;
    }
    let metric = group.metric();
    let heat =
        Heat { x: x.clone(), y: y.clone(), xs, ys, values: grid, measure: format!("{metric}, validation") };
    let mut caption = format!(
        "Validation {metric} of {} on {}, mean over seeds, by {x} and {y}; the best is framed.",
        loss.loss, group.label
    );
    if filled < judged.len() {
        let others = loss.varied.iter().filter(|key| *key != x && *key != y).cloned().collect::<Vec<_>>();
        caption += &format!(" Each cell is the best over {}.", others.join(", "));
    }
    Some(Figure {
        title: format!("{} by {x} and {y}, {}", loss.loss, group.label),
        caption,
        scene: heat.draw(),
        runs: judged.iter().flat_map(|(setting, _)| setting.runs.iter().map(|run| run.number)).collect(),
    })
}

fn curve(group: &Group<'_>, looks: &Looks, key: &String, losses: &[&LossRuns<'_>]) -> Figure {
    let metric = group.metric();
    let mut best_of_more = false;
    let lines = losses.iter().map(|loss| {
        let judged: Vec<(&Setting<'_>, f64)> =
            loss.settings.iter().filter_map(|setting| Some((setting, setting.valid?))).collect();
        let levels = values(&judged, key);
        best_of_more |= judged.len() > levels.len();
        let at = |level: f64| {
            let here = judged.iter().filter(|(setting, _)| number(setting, key) == Some(level));
            here.map(|(_, valid)| *valid).max_by(f64::total_cmp)
        };
        let points = levels.into_iter().filter_map(|level| Some((level, at(level)?, None))).collect();
        Line { name: loss.loss.clone(), style: Some(looks.style(&loss.loss)), points }
    });
    let lines = Lines {
        x: key.clone(),
        y: format!("{metric}, validation"),
        lines: lines.collect(),
        faint: String::new(),
    };
    let runs: Vec<usize> = losses
        .iter()
        .flat_map(|loss| &loss.settings)
        .flat_map(|setting| setting.runs.iter().map(|run| run.number))
        .collect();
    let mut caption = format!(
        "Validation {metric} by {key} on {}, mean over seeds; {}.",
        group.label,
        count(runs.len(), "run")
    );
    if best_of_more {
        caption += " Each point is the best over the other settings.";
    }
    Figure { title: format!("Sensitivity to {key}, {}", group.label), caption, scene: lines.draw(), runs }
}

fn number(setting: &Setting<'_>, key: &str) -> Option<f64> {
    setting.runs[0].settings.number(key)
}

/// The values of a key that were tried, ascending.
fn values(judged: &[(&Setting<'_>, f64)], key: &str) -> Vec<f64> {
    let mut values: Vec<f64> = judged.iter().filter_map(|(setting, _)| number(setting, key)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}
