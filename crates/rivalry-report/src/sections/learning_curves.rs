//! Validation metric and training loss by epoch.

use std::collections::BTreeMap;

use rivalry::train::Record;

use super::LossStyles;
use crate::chart::{DataPoint, LineChart, LineSeries};
use crate::draw::SeriesStyle;
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
    fn lines(&self, styles: &LossStyles, value: impl Fn(&Record) -> Option<f64>) -> Vec<LineSeries> {
        let line = |run: &Run, style: Option<SeriesStyle>| {
            let point = |record: &Record| {
                Some(DataPoint { x: record.epoch as f64, y: value(record)?, deviation: None })
            };
            let points = run.log.iter().filter_map(point).collect();
            let chosen = style.and_then(|_| run.best_epoch()).map(|epoch| epoch as f64);
            LineSeries { name: run.loss().to_owned(), style, points, mark: chosen }
        };
        let main = self.main.iter().map(|run| line(run, Some(styles.style(run.loss()))));
        let lines = main.chain(self.context.iter().map(|run| line(run, None)));
        lines.filter(|line| line.points.len() > 1).collect()
    }

    fn caption(&self) -> String {
        let mut caption = match self.context.is_empty() {
            true => "One line per run.".to_owned(),
            false => format!(
                "One line per run: in colour the settings of the tables (at most {MAX_SEEDS} seeds each), in grey at most {MAX_CONTEXT} of the other runs."
            ),
        };
        if self.main.iter().any(|run| run.best_epoch().is_some()) {
            caption += " A ring marks the selected epoch, whose model was kept.";
        }
        caption
    }
}

fn figures(group: &Group<'_>, styles: &LossStyles) -> Vec<Figure> {
    let metric = group.metric();
    let curves = Curves::of(group);
    let on_test = curves.all().all(|run| run.log.iter().all(|record| record.valid.is_none()));
    let split = if on_test { "test" } else { "validation" };
    let metric_lines = curves.lines(styles, |record| {
        let metrics = record.valid.as_ref().or(record.test.as_ref())?;
        metrics.get(&metric).copied()
    });
    let mut loss_lines = curves.lines(styles, |record| record.loss.is_finite().then_some(record.loss));
    // The parameters of a loss change its values, so other settings would only stretch the axis.
    loss_lines.retain(|line| line.style.is_some());
    let chart = |y_title: String, series: Vec<LineSeries>| LineChart {
        x_title: "epoch".to_owned(),
        y_title,
        whole_x: true,
        series,
        context_name: "other runs".to_owned(),
        mark_name: "selected epoch".to_owned(),
    };
    let mut figures = Vec::new();
    if !metric_lines.is_empty() {
        figures.push(Figure {
            title: format!("{split} {metric} by epoch, {}", group.label),
            caption: format!(
                "{metric} on the {split} set by epoch, on {}. {}",
                group.label,
                curves.caption()
            ),
            scene: chart(format!("{metric}, {split}"), metric_lines).draw(),
            runs: curves.all().map(|run| run.index).collect(),
        });
    }
    if !loss_lines.is_empty() {
        figures.push(Figure {
            title: format!("Training loss by epoch, {}", group.label),
            caption: format!(
                "Mean training loss by epoch on {}, for the settings of the tables. Each loss has an axis of its own: the values of different losses and settings are not comparable. A ring marks the selected epoch.",
                group.label
            ),
            scene: chart("training loss".to_owned(), loss_lines).draw_panels(),
            runs: curves.main.iter().map(|run| run.index).collect(),
        });
    }
    figures
}
