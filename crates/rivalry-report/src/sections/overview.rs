//! What was found, and what is not finished.

use std::collections::{BTreeMap, BTreeSet};

use rivalry_runs::run::quoted;

use super::count;
use crate::group::{Group, place};
use crate::page::{Block, Cell, Column, Section, Table};
use crate::run::Run;

pub(super) fn section(runs: &[Run], groups: &[Group<'_>]) -> Section {
    let unfinished: Vec<&Run> = runs.iter().filter(|run| run.record.is_none() && !run.given_up).collect();
    let given_up = runs.iter().filter(|run| run.given_up).count();
    let finished = runs.len() - unfinished.len() - given_up;
    let mut text = format!("{}: {finished} finished, {} not.", count(runs.len(), "run"), unfinished.len());
    if given_up > 0 {
        text += &format!(
            " {given_up} more were given up by a search (halving); their learning curves are drawn."
        );
    }
    let losses = groups.iter().flat_map(|group| &group.losses);
    let kept = losses.flat_map(|loss| &loss.settings).flat_map(|setting| &setting.runs);
    // A closed-form model is in several groups.
    let kept = kept.map(|run| run.number).collect::<BTreeSet<_>>().len();
    if kept < finished {
        text += &match finished - kept {
            1 => " One of them repeats another run's config and seed, and is left out of all figures."
                .to_owned(),
            n => {
                format!(" {n} of them repeat another run's config and seed, and are left out of all figures.")
            }
        };
    }
    let mut blocks = vec![Block::Prose(text), Block::Table(by_data(runs))];
    if !unfinished.is_empty() {
        blocks.push(Block::Table(not_finished(&unfinished)));
    }
    Section { id: "overview", title: "Overview", blocks }
}

fn by_data(runs: &[Run]) -> Table {
    let mut cells: BTreeMap<(String, &str), Vec<&Run>> = BTreeMap::new();
    for run in runs {
        cells.entry((run.data(), run.backbone())).or_default().push(run);
    }
    let row = |((data, backbone), runs): (&(String, &str), &Vec<&Run>)| {
        let losses: BTreeSet<(usize, &str)> =
            runs.iter().map(|run| (place(run.loss()), run.loss())).collect();
        let losses: Vec<&str> = losses.into_iter().map(|(_, loss)| loss).collect();
        let seeds: BTreeSet<u64> = runs.iter().map(|run| run.config.seed).collect();
        let finished = runs.iter().filter(|run| run.record.is_some()).count();
        vec![
            Cell::plain(data),
            Cell::plain(*backbone),
            Cell::plain(runs.len().to_string()),
            Cell::plain(finished.to_string()),
            Cell::plain(listed(&seeds)),
            Cell::plain(losses.join(", ")),
        ]
    };
    let columns = ["data", "backbone", "runs", "finished", "seeds", "losses"];
    Table {
        caption: "What was found.".to_owned(),
        columns: columns
            .map(|title| {
                if ["runs", "finished"].contains(&title) {
                    Column::number(title)
                } else {
                    Column::text(title)
                }
            })
            .into(),
        rows: cells.iter().map(row).collect(),
        runs: Vec::new(),
    }
}

/// Seeds, unless there are too many to list.
fn listed(seeds: &BTreeSet<u64>) -> String {
    if seeds.len() > 8 {
        return count(seeds.len(), "seed");
    }
    seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

fn not_finished(runs: &[&Run]) -> Table {
    let row = |run: &&Run| {
        let metric = run.config.eval.selection_metric();
        let last = run.log.last();
        let valid = last.and_then(|record| record.valid.as_ref()?.get(&metric).copied());
        vec![
            Cell::plain(&run.name),
            Cell::plain(run.loss()),
            Cell::plain(run.data()),
            Cell::plain(format!(
                "{} of {}",
                last.map_or(0, |record| record.epoch),
                run.config.gradient.as_ref().map_or(0, |gradient| gradient.train.epochs)
            )),
            Cell::maybe(valid.map(|value| format!("{value:.4} ({metric})"))),
            Cell::plain(match &run.failure {
                Some(reason) => format!("can't be trained: {reason}"),
                None => format!("rivalry train --resume {}", quoted(&run.path)),
            }),
        ]
    };
    Table {
        caption: "Runs that are not finished. They are in no table; their learning curves are drawn."
            .to_owned(),
        columns: ["run", "loss", "data", "epoch", "validation", "to go on"].map(Column::text).into(),
        rows: runs.iter().map(row).collect(),
        runs: Vec::new(),
    }
}
