//! The sections of a report, one file each. A section without content is left out.

mod all_models;
mod comparison;
mod environment;
mod head_tail;
mod inspections;
mod learning_curves;
mod noise;
mod overview;
mod sensitivity;
mod tables;

use rivalry::eval::MetricAt;
use std::collections::BTreeSet;

use crate::chart::Bar;
use crate::comparison::GroupComparison;
use crate::draw::SeriesStyle;
use crate::group::{Group, loss_order};
use crate::page::Section;
use crate::run::Run;
use crate::summary::relative_change;
use rivalry_runs::stats::MeanStd;

/// All sections of a report on these runs.
pub(crate) fn all(runs: &[Run], groups: &[Group<'_>], comparisons: &[GroupComparison]) -> Vec<Section> {
    let styles = LossStyles::of(runs);
    let sections = [
        overview::section(runs, groups),
        tables::section(groups, comparisons),
        comparison::section(groups),
        head_tail::section(groups),
        learning_curves::section(groups, &styles),
        sensitivity::section(groups, &styles),
        noise::section(groups, &styles),
        inspections::section(runs),
    ];
    sections.into_iter().filter(|section| !section.blocks.is_empty()).collect()
}

/// The style of each loss, the same in all figures of a report.
struct LossStyles(Vec<String>);

impl LossStyles {
    fn of(runs: &[Run]) -> Self {
        Self(losses(runs))
    }

    fn style(&self, loss: &str) -> SeriesStyle {
        SeriesStyle::of(self.0.iter().position(|known| known == loss).unwrap_or_default())
    }
}

/// The losses of these runs, each once, in the order of the list of losses.
fn losses<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Vec<String> {
    let losses: BTreeSet<(usize, &str)> =
        runs.into_iter().map(|run| (loss_order(run.loss()), run.loss())).collect();
    losses.into_iter().map(|(_, loss)| loss.to_owned()).collect()
}

/// Recall and NDCG at the cutoff that epochs are selected by.
fn main_metrics(group: &Group<'_>) -> [MetricAt; 2] {
    let k = group.metric().k();
    [MetricAt::recall(k), MetricAt::ndcg(k)]
}

/// A mean over seeds with its standard deviation.
fn mean_bar(summary: Option<MeanStd>) -> Option<Bar> {
    summary.map(|MeanStd { mean, deviation }| Bar { value: mean, deviation })
}

/// The relative change of a mean, in percent.
fn change_bar(value: Option<MeanStd>, base: Option<MeanStd>) -> Option<Bar> {
    let value = relative_change(value?.mean, base?.mean)?;
    Some(Bar { value, deviation: None })
}

/// `1 run`, `3 runs`.
fn count(number: usize, noun: &str) -> String {
    let number_text = rivalry::data::thousands(number);
    format!("{number_text} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests;
