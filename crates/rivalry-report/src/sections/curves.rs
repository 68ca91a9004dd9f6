//! How runs learned, epoch by epoch.

use std::collections::BTreeMap;

use rivalry::train::Record;

use super::Looks;
use crate::chart::{Line, Lines};
use crate::group::{Group, place};
use crate::page::{Block, Figure, Section};
use crate::run::Run;

/// More lines than these hide each other.
const MOST_SEEDS: usize = 5;
const MOST_FAINT: usize = 80;

pub(super) fn section(groups: &[Group<'_>], looks: &Looks) -> Section {
    let blocks = groups.iter().flat_map(|group| figures(group, looks)).map(Block::Figure).collect();
    Section { id: "curves", title: "Learning curves", blocks }
}

/// The runs of a group that are drawn in full, and those that are only context.
fn drawn<'a>(group: &Group<'a>) -> (Vec<&'a Run>, Vec<&'a Run>) {
    let shown = group.shown();
    let tested = |loss: &str| group.losses.iter().any(|runs| runs.loss == loss);
    let mut seeds: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut strong, mut faint) = (Vec::new(), Vec::new());
    for run in group.runs.iter().copied().filter(|run| run.log.len() > 1) {
        let main = shown.contains(&run.number) || (run.record.is_none() && !tested(run.loss()));
        let drawn = seeds.entry(run.loss()).or_default();
        if main && *drawn < MOST_SEEDS {
            *drawn += 1;
            strong.push(run);
        } else if faint.len() < MOST_FAINT {
            faint.push(run);
        }
    }
    strong.sort_by_key(|run| place(run.loss()));
    (strong, faint)
}

fn figures(group: &Group<'_>, looks: &Looks) -> Vec<Figure> {
    let metric = group.metric();
    let (strong, faint) = drawn(group);
    let on_test = strong.iter().chain(&faint).all(|run| run.log.iter().all(|record| record.valid.is_none()));
    let part = if on_test { "test" } else { "validation" };
    let lines = |value: &dyn Fn(&Run, &Record) -> Option<f64>| {
        let line = |run: &&Run, style| {
            let points = run.log.iter().filter_map(|r| Some((r.epoch as f64, value(run, r)?, None)));
            Line { name: run.loss().to_owned(), style, points: points.collect() }
        };
        let strong = strong.iter().map(|run| line(run, Some(looks.style(run.loss()))));
        let lines = strong.chain(faint.iter().map(|run| line(run, None)));
        lines.filter(|line| line.points.len() > 1).collect::<Vec<Line>>()
    };
    let measured = lines(&|_, record| {
        record.valid.as_ref().or(record.test.as_ref()).and_then(|metrics| metrics.get(&metric)).copied()
    });
    let fallen = lines(&|run, record| {
        let first = run.log[0].loss;
        (first > 0.0).then(|| record.loss / first)
    });
    let seeds = "One line a run";
    let seeds = match faint.is_empty() {
        true => format!("{seeds}."),
        false => format!(
            "{seeds}; strong lines are the settings of the tables, at most {MOST_SEEDS} seeds of each, faint ones at most {MOST_FAINT} of the others."
        ),
    };
    let runs: Vec<usize> = strong.iter().chain(&faint).map(|run| run.number).collect();
    let figure = |what: &str, caption: String, y: String, lines: Vec<Line>| {
        let lines = Lines { x: "epoch".to_owned(), y, lines, faint: "other runs".to_owned() };
        let title = format!("{what} by epoch, {}", group.label);
        (!lines.lines.is_empty()).then(|| Figure { title, caption, scene: lines.draw(), runs: runs.clone() })
    };
    let first = figure(
        &format!("{part} {metric}"),
        format!("{metric} on the {part} part, by epoch, on {}. {seeds}", group.label),
        format!("{metric}, {part}"),
        measured,
    );
    let second = figure(
        "Training loss",
        format!(
            "Mean training loss by epoch on {}, relative to the first record of the run: losses differ in scale, so only the shapes can be compared. Runs whose first value is not above zero are left out.",
            group.label
        ),
        "loss, first = 1".to_owned(),
        fallen,
    );
    first.into_iter().chain(second).collect()
}
