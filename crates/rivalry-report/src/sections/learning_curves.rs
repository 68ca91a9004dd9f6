//! Validation metric and training loss by epoch.

use std::collections::BTreeMap;

use rivalry::train::Record;

use super::LossStyles;
use crate::chart::{DataPoint, LineChart, LineSeries};
use crate::group::{Group, loss_order};
use crate::page::{Block, Figure, Section};
use crate::run::Run;

/// More lines would hide each other.
const MAX_SEEDS: usize = 5;
const MAX_CONTEXT: usize = 80;

pub(super) fn section(groups: &[Group<'_>], styles: &LossStyles) -> Section {
    let blocks = groups.iter().flat_map(|group| figures(group, styles)).map(Block::Figure).collect();
    Section { id: "curves", title: "Learning curves", blocks }
}

/// The runs of a group that are drawn.
struct Curves<'a> {
    /// In the style of their loss.
    main: Vec<&'a Run>,
    /// As thin lines.
    context: Vec<&'a Run>,
}

impl<'a> Curves<'a> {
    fn of(group: &Group<'a>) -> Self {
        let shown = group.shown();
        let is_finished = |loss: &str| group.losses.iter().any(|runs| runs.name == loss);
        let mut seeds: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut main, mut context) = (Vec::new(), Vec::new());
        for run in group.runs.iter().copied().filter(|run| run.log.len() > 1) {
            let is_main = shown.contains(&run.index) || (run.record.is_none() && !is_finished(run.loss()));
            let drawn = seeds.entry(run.loss()).or_default();
            if is_main && *drawn < MAX_SEEDS {
                *drawn += 1;
                main.push(run);
            } else if context.len() < MAX_CONTEXT {
                context.push(run);
            }
        }
        main.sort_by_key(|run| loss_order(run.loss()));
        Self { main, context }
    }

    fn all(&self) -> impl Iterator<Item = &'a Run> {
        self.main.iter().chain(&self.context).copied()
    }

    /// One line a run, of a value of its log records.
    fn lines(&self, styles: &LossStyles, value: impl Fn(&Run, &Record) -> Option<f64>) -> Vec<LineSeries> {
        let line = |run: &Run, style| {
            let point = |record: &Record| {
                Some(DataPoint { x: record.epoch as f64, y: value(run, record)?, deviation: None })
            };
            LineSeries {
                name: run.loss().to_owned(),
                style,
                points: run.log.iter().filter_map(point).collect(),
            }
        };
        let main = self.main.iter().map(|run| line(run, Some(styles.style(run.loss()))));
        let lines = main.chain(self.context.iter().map(|run| line(run, None)));
        lines.filter(|line| line.points.len() > 1).collect()
    }

    fn caption(&self) -> String {
        if self.context.is_empty() {
            return "One line per run.".to_owned();
        }
        format!(
            "One line per run: in colour the settings of the tables (at most {MAX_SEEDS} seeds each), in grey at most {MAX_CONTEXT} of the other runs."
        )
    }
}

fn figures(group: &Group<'_>, styles: &LossStyles) -> Vec<Figure> {
    let metric = group.metric();
    let curves = Curves::of(group);
    let on_test = curves.all().all(|run| run.log.iter().all(|record| record.valid.is_none()));
    let split = if on_test { "test" } else { "validation" };
    let metric_lines = curves.lines(styles, |_, record| {
        let metrics = record.valid.as_ref().or(record.test.as_ref())?;
        metrics.get(&metric).copied()
    });
    let loss_lines = curves.lines(styles, |run, record| {
        let first = run.log[0].loss;
        (first > 0.0).then(|| record.loss / first)
    });
    let figure = |title: String, caption: String, y_title: String, series: Vec<LineSeries>| {
        let chart = LineChart {
            x_title: "epoch".to_owned(),
            y_title,
            whole_x: true,
            series,
            context_name: "other runs".to_owned(),
        };
        let runs = curves.all().map(|run| run.index).collect();
        (!chart.series.is_empty()).then(|| Figure { title, caption, scene: chart.draw(), runs })
    };
    let metric_figure = figure(
        format!("{split} {metric} by epoch, {}", group.label),
        format!("{metric} on the {split} set by epoch, on {}. {}", group.label, curves.caption()),
        format!("{metric}, {split}"),
        metric_lines,
    );
    let loss_figure = figure(
        format!("Training loss by epoch, {}", group.label),
        format!(
            "Mean training loss by epoch on {}, divided by the first value of the run. Losses differ in scale, so compare shapes only. Runs whose first value is not positive are left out.",
            group.label
        ),
        "loss / first value".to_owned(),
        loss_lines,
    );
    metric_figure.into_iter().chain(loss_figure).collect()
}
