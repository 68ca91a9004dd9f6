//! Validation metrics by hyperparameter: heat maps over two, curves over one.

use std::collections::BTreeMap;

use super::{LossStyles, count};
use crate::chart::{DataPoint, HeatMap, LineChart, LineSeries};
use crate::group::{Group, LossRuns, Setting};
use crate::page::{Block, Figure, Section};

/// The maximum number of heat maps for one loss.
const MAX_MAPS: usize = 6;

pub(super) fn section(groups: &[Group<'_>], styles: &LossStyles) -> Section {
    let mut blocks = Vec::new();
    for group in groups {
        let mut single: BTreeMap<String, Vec<&LossRuns<'_>>> = BTreeMap::new();
        for loss in &group.losses {
            let (maps, keys) = heat_maps(group, loss);
            blocks.extend(maps.into_iter().map(Block::Figure));
            keys.into_iter().for_each(|key| single.entry(key).or_default().push(loss));
        }
        blocks.extend(single.iter().map(|(key, losses)| Block::Figure(curves(group, styles, key, losses))));
    }
    Section { id: "sensitivity", title: "Hyperparameter sensitivity", blocks }
}

/// The settings of a loss that have a validation metric.
struct Validated<'l, 'a> {
    settings: Vec<(&'l Setting<'a>, f64)>,
}

impl<'l, 'a> Validated<'l, 'a> {
    fn of(loss: &'l LossRuns<'a>) -> Self {
        let settings = loss.settings.iter().filter_map(|setting| Some((setting, setting.valid?)));
        Self { settings: settings.collect() }
    }

    /// The values of a numeric key, ascending.
    fn values(&self, key: &str) -> Vec<f64> {
        let mut values: Vec<f64> =
            self.settings.iter().filter_map(|(setting, _)| number(setting, key)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }

    /// The best metric among the settings with these values.
    fn best(&self, values: &[(&str, f64)]) -> Option<f64> {
        let matches =
            |setting: &Setting<'_>| values.iter().all(|(key, value)| number(setting, key) == Some(*value));
        let matching = self.settings.iter().filter(|(setting, _)| matches(setting));
        matching.map(|(_, valid)| *valid).max_by(f64::total_cmp)
    }
}

fn number(setting: &Setting<'_>, key: &str) -> Option<f64> {
    setting.runs[0].settings.number(key)
}

/// Heat maps for the pairs of numeric keys that were searched as a grid, and the keys that are in none of them.
fn heat_maps(group: &Group<'_>, loss: &LossRuns<'_>) -> (Vec<Figure>, Vec<String>) {
    let validated = Validated::of(loss);
    let is_number =
        |key: &&String| validated.settings.iter().all(|(setting, _)| number(setting, key).is_some());
    let keys: Vec<&String> = loss.varied.iter().filter(is_number).collect();
    let mut figures = Vec::new();
    let mut covered: Vec<&String> = Vec::new();
    for (index, x) in keys.iter().copied().enumerate() {
        for y in keys.iter().copied().skip(index + 1) {
            if figures.len() < MAX_MAPS
                && let Some(figure) = heat_map(group, loss, &validated, (x, y))
            {
                figures.push(figure);
                covered.extend([x, y]);
            }
        }
    }
    let single = keys.into_iter().filter(|key| !covered.contains(key) && validated.values(key).len() > 2);
    (figures, single.cloned().collect())
}

fn heat_map(
    group: &Group<'_>,
    loss: &LossRuns<'_>,
    validated: &Validated<'_, '_>,
    (x, y): (&String, &String),
) -> Option<Figure> {
    let (xs, ys) = (validated.values(x), validated.values(y));
    let best = |x_value: f64, y_value: f64| validated.best(&[(x, x_value), (y, y_value)]);
    let values: Vec<Vec<Option<f64>>> =
        ys.iter().map(|&y_value| xs.iter().map(|&x_value| best(x_value, y_value)).collect()).collect();
    let filled = values.iter().flatten().flatten().count();
    // A random search fills few cells of the grid of its values; such a map would be mostly empty.
    if xs.len() < 2 || ys.len() < 2 || filled < 4 || filled * 2 < xs.len() * ys.len() {
        return None;
    }
    let metric = group.metric();
    let mut caption = format!(
        "Validation {metric} of {} on {} by {x} and {y}, mean over seeds; the best is outlined.",
        loss.name, group.label
    );
    if filled < validated.settings.len() {
        let others: Vec<&str> =
            loss.varied.iter().filter(|key| *key != x && *key != y).map(|key| &**key).collect();
        caption += &format!(" Each cell is the best over {}.", others.join(", "));
    }
    caption += &finished_settings(&[loss]);
    let map = HeatMap {
        x_title: x.clone(),
        y_title: y.clone(),
        xs,
        ys,
        values,
        metric: format!("{metric}, validation"),
    };
    Some(Figure {
        title: format!("{} by {x} and {y}, {}", loss.name, group.label),
        caption,
        scene: map.draw(),
        runs: validated.settings.iter().flat_map(|(setting, _)| setting.run_indices()).collect(),
    })
}

/// How many of the settings tried are shown, if not all: pruned and failed ones have no metrics to compare.
fn finished_settings(losses: &[&LossRuns<'_>]) -> String {
    if losses.iter().all(|loss| loss.settings.len() == loss.tried) {
        return String::new();
    }
    let counts: Vec<String> = losses
        .iter()
        .map(|loss| format!("{} {} of {}", loss.name, loss.settings.len(), loss.tried))
        .collect();
    format!(" Only settings that were trained to the end: {}.", counts.join(", "))
}

fn curves(group: &Group<'_>, styles: &LossStyles, key: &str, losses: &[&LossRuns<'_>]) -> Figure {
    let metric = group.metric();
    let mut best_of_several = false;
    let series = losses.iter().map(|loss| {
        let validated = Validated::of(loss);
        let values = validated.values(key);
        best_of_several |= validated.settings.len() > values.len();
        let point = |x: f64| Some(DataPoint { x, y: validated.best(&[(key, x)])?, deviation: None });
        let points = values.into_iter().filter_map(point).collect();
        LineSeries { name: loss.name.clone(), style: Some(styles.style(&loss.name)), points, mark: None }
    });
    let chart = LineChart {
        x_title: key.to_owned(),
        y_title: format!("{metric}, validation"),
        whole_x: false,
        series: series.collect(),
        context_name: String::new(),
        mark_name: String::new(),
    };
    let settings = losses.iter().flat_map(|loss| &loss.settings);
    let runs: Vec<usize> = settings.flat_map(Setting::run_indices).collect();
    let mut caption = format!(
        "Validation {metric} by {key} on {}, mean over seeds; {}.",
        group.label,
        count(runs.len(), "run")
    );
    if best_of_several {
        caption += " Each point is the best over the other settings.";
    }
    caption += &finished_settings(losses);
    Figure { title: format!("Sensitivity to {key}, {}", group.label), caption, scene: chart.draw(), runs }
}
