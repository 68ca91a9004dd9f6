//! How losses bear noise: test figures against how much of it there is.

use std::collections::BTreeMap;

use super::Looks;
use crate::chart::{Line, Lines};
use crate::group::Group;
use crate::page::{Block, Figure, Section};
use crate::settings::CONDITIONS;

pub(super) fn section(groups: &[Group<'_>], looks: &Looks) -> Section {
    let mut blocks = Vec::new();
    for condition in CONDITIONS {
        let mut families: BTreeMap<String, Vec<&Group<'_>>> = BTreeMap::new();
        for group in groups.iter().filter(|group| !group.losses.is_empty()) {
            families.entry(all_else(group, condition)).or_default().push(group);
        }
        let figures = families.into_values().filter_map(|family| figure(condition, family, looks));
        blocks.extend(figures.map(Block::Figure));
    }
    Section { id: "noise", title: "Noise", blocks }
}

/// What groups must share to be points of one curve.
fn all_else(group: &Group<'_>, condition: &str) -> String {
    let run = group.runs[0];
    let eval = &run.config.eval;
    let others =
        CONDITIONS.iter().filter(|other| **other != condition).map(|other| run.settings.level(other));
    let others: Vec<f64> = others.collect();
    let data = run.settings.data();
    format!("{data}\n{} {:?} {:?} {:?} {others:?}", group.backbone, eval.mask, eval.average, group.select)
}

fn figure(condition: &str, family: Vec<&Group<'_>>, looks: &Looks) -> Option<Figure> {
    let mut levels: Vec<(f64, &Group<'_>)> =
        family.into_iter().map(|group| (group.runs[0].settings.level(condition), group)).collect();
    levels.sort_by(|a, b| a.0.total_cmp(&b.0));
    levels.dedup_by_key(|(level, _)| *level);
    if levels.len() < 2 {
        return None;
    }
    let clean = levels[0].1;
    let metric = clean.metric();
    let mut runs = Vec::new();
    let mut lines: BTreeMap<usize, Line> = BTreeMap::new();
    for (level, group) in &levels {
        for (loss, setting) in group.rows().filter(|(loss, _)| loss.chosen.is_some()) {
            let Some(found) = setting.test(&metric) else { continue };
            let (name, style) = (loss.loss.clone(), Some(looks.style(&loss.loss)));
            let line =
                lines.entry(crate::group::place(&name)).or_insert(Line { name, style, points: Vec::new() });
            line.points.push((*level, found.mean, found.deviation));
            runs.extend(setting.runs.iter().map(|run| run.number));
        }
    }
    let what = match condition {
        "data.prepare.noise" => "the share of false positives added to the training part",
        _ => "the probability that a sampled negative is a positive of the user",
    };
    let on = format!("{}, {}", clean.data, clean.backbone);
    let lines = Lines {
        x: condition.to_owned(),
        y: format!("{metric}, test"),
        lines: lines.into_values().collect(),
        faint: String::new(),
    };
    Some(Figure {
        title: format!("Noise: test {metric} by {condition}, {on}"),
        caption: format!(
            "Test {metric} on {on} against {what}. At each level the setting of a loss is the one that validation chose; whiskers: standard deviation over seeds."
        ),
        scene: lines.draw(),
        runs,
    })
}
