//! The sections of a report, one file each. A section with nothing to show is not there.

mod comparison;
mod curves;
mod head_tail;
mod inspections;
mod noise;
mod overview;
mod sensitivity;
mod tables;

use std::collections::BTreeSet;

use crate::draw::Style;
use crate::group::{Group, place};
use crate::page::Section;
use crate::run::Run;

/// Everything there is to show of these runs.
pub(crate) fn all(runs: &[Run], groups: &[Group<'_>]) -> Vec<Section> {
    let looks = Looks::of(runs);
    let sections = [
        overview::section(runs, groups),
        tables::section(groups),
        comparison::section(groups),
        head_tail::section(groups),
        curves::section(groups, &looks),
        sensitivity::section(groups, &looks),
        noise::section(groups, &looks),
        inspections::section(runs),
    ];
    sections.into_iter().filter(|section| !section.blocks.is_empty()).collect()
}

/// Every loss looks the same in all figures of a report.
struct Looks(Vec<String>);

impl Looks {
    fn of(runs: &[Run]) -> Self {
        let losses: BTreeSet<(usize, &str)> =
            runs.iter().map(|run| (place(run.loss()), run.loss())).collect();
        Self(losses.into_iter().map(|(_, loss)| loss.to_owned()).collect())
    }

    fn style(&self, loss: &str) -> Style {
        Style::of(self.0.iter().position(|known| known == loss).unwrap_or_default())
    }
}

/// `1 run`, `3 runs`.
fn count(number: usize, noun: &str) -> String {
    let number_text = rivalry::data::thousands(number);
    format!("{number_text} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests;
