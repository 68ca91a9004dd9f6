//! How many runs there are, and which are unfinished.

use std::collections::{BTreeMap, BTreeSet};

use rivalry_runs::run::quoted;

use super::{count, losses};
use crate::group::Group;
use crate::page::{Block, RunTable, Section};
use crate::run::Run;
use crate::table::{Table, TableCell, TableColumn};

/// More seeds are counted, not listed.
const MAX_LISTED_SEEDS: usize = 8;

pub(super) fn section(runs: &[Run], groups: &[Group<'_>]) -> Section {
    let unfinished: Vec<&Run> = runs.iter().filter(|run| run.record.is_none() && !run.pruned).collect();
    let pruned = runs.iter().filter(|run| run.pruned).count();
    let finished = runs.len() - unfinished.len() - pruned;
    let mut text =
        format!("{}: {finished} finished, {} unfinished", count(runs.len(), "run"), unfinished.len());
    if pruned > 0 {
        text += &format!(", {pruned} pruned by successive halving (learning curves only)");
    }
    text.push('.');
    let losses = groups.iter().flat_map(|group| &group.losses);
    let distinct = losses.flat_map(|loss| &loss.settings).flat_map(|setting| &setting.runs);
    // A closed-form model is in several groups.
    let distinct = distinct.map(|run| run.index).collect::<BTreeSet<_>>().len();
    match finished - distinct {
        0 => {}
        1 => text += " One run repeats the config and seed of another and is left out of all metrics.",
        n => {
            text +=
                &format!(" {n} runs repeat the config and seed of another and are left out of all metrics.");
        }
    }
    let mut blocks = vec![Block::Paragraph(text), Block::Table(by_data(runs))];
    if !unfinished.is_empty() {
        blocks.push(Block::Table(unfinished_table(&unfinished)));
    }
    Section { id: "overview", title: "Overview", blocks }
}

fn by_data(runs: &[Run]) -> RunTable {
    let mut by_data: BTreeMap<(String, &str), Vec<&Run>> = BTreeMap::new();
    for run in runs {
        by_data.entry((run.data(), run.backbone())).or_default().push(run);
    }
    let row = |((data, backbone), runs): (&(String, &str), &Vec<&Run>)| {
        let seeds: BTreeSet<u64> = runs.iter().map(|run| run.config.seed).collect();
        let finished = runs.iter().filter(|run| run.record.is_some()).count();
        vec![
            TableCell::new(data),
            TableCell::new(*backbone),
            TableCell::new(runs.len().to_string()),
            TableCell::new(finished.to_string()),
            TableCell::new(seed_list(&seeds)),
            TableCell::new(losses(runs.iter().copied()).join(", ")),
        ]
    };
    let table = Table {
        caption: "Runs by data set and model.".to_owned(),
        columns: vec![
            TableColumn::text("data"),
            TableColumn::text("model"),
            TableColumn::number("runs"),
            TableColumn::number("finished"),
            TableColumn::text("seeds"),
            TableColumn::text("losses"),
        ],
        rows: by_data.iter().map(row).collect(),
    };
    RunTable { table, runs: Vec::new() }
}

fn seed_list(seeds: &BTreeSet<u64>) -> String {
    if seeds.len() > MAX_LISTED_SEEDS {
        return count(seeds.len(), "seed");
    }
    seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

fn unfinished_table(runs: &[&Run]) -> RunTable {
    let row = |run: &&Run| {
        let metric = run.config.eval.selection_metric();
        let last = run.log.last();
        let valid = last.and_then(|record| record.valid.as_ref()?.get(&metric).copied());
        let epoch = last.map_or(0, |record| record.epoch);
        vec![
            TableCell::new(&run.name),
            TableCell::new(run.loss()),
            TableCell::new(run.data()),
            TableCell::new(format!(
                "{epoch} of {}",
                run.config.gradient.as_ref().map_or(0, |gradient| gradient.train.epochs)
            )),
            TableCell::or_dash(valid.map(|value| format!("{value:.4} ({metric})"))),
            TableCell::new(match &run.failure {
                Some(reason) => format!("failed: {reason}"),
                None => format!("rivalry train --resume {}", quoted(&run.path)),
            }),
        ]
    };
    let table = Table {
        caption: "Unfinished runs. They appear in the learning curves only.".to_owned(),
        columns: ["run", "loss", "data", "epoch", "validation", "resume with"].map(TableColumn::text).into(),
        rows: runs.iter().map(row).collect(),
    };
    RunTable { table, runs: Vec::new() }
}
