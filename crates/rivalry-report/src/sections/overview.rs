//! How many runs there are, on which data and machines, and which did not finish.

use std::collections::{BTreeMap, BTreeSet};

use rivalry_runs::run::quoted;
use rivalry_runs::sweep::RunState;

use super::{count, environment, losses};
use crate::counts::RunCounts;
use crate::group::Group;
use crate::page::{Block, RunTable, Section};
use crate::run::Run;
use crate::table::{Table, TableCell, TableColumn};

/// More seeds are counted, not listed.
const MAX_LISTED_SEEDS: usize = 8;

pub(super) fn section(runs: &[Run], groups: &[Group<'_>]) -> Section {
    let counts = RunCounts::of(runs);
    let mut text = format!("{counts}.");
    if counts.pruned > 0 {
        text += " Successive halving stopped the pruned runs early: they count as settings tried, and of their figures only the learning curves are shown.";
    }
    let losses = groups.iter().flat_map(|group| &group.losses);
    let distinct = losses.flat_map(|loss| &loss.settings).flat_map(|setting| &setting.runs);
    // A closed-form model is in several groups.
    let distinct = distinct.map(|run| run.index).collect::<BTreeSet<_>>().len();
    match counts.finished - distinct {
        0 => {}
        1 => text += " One run repeats the config and seed of another and is left out of all metrics.",
        n => {
            text +=
                &format!(" {n} runs repeat the config and seed of another and are left out of all metrics.");
        }
    }
    let mut blocks = vec![Block::Paragraph(text), Block::Table(by_data(runs))];
    blocks.extend(environment::tables(runs).map(Block::Table));
    let stopped = runs.iter().filter(|run| matches!(run.state, RunState::Unfinished | RunState::Failed(_)));
    let stopped: Vec<&Run> = stopped.collect();
    if !stopped.is_empty() {
        blocks.push(Block::Table(stopped_table(&stopped)));
    }
    Section { id: "overview", title: "Overview", blocks }
}

fn by_data(runs: &[Run]) -> RunTable {
    let mut by_data: BTreeMap<(String, &str), Vec<&Run>> = BTreeMap::new();
    for run in runs {
        by_data.entry((run.data(), run.backbone())).or_default().push(run);
    }
    let all = RunCounts::of(runs).by_state();
    let row = |((data, backbone), runs): (&(String, &str), &Vec<&Run>)| {
        let seeds: BTreeSet<u64> = runs.iter().map(|run| run.config.seed).collect();
        let states = RunCounts::of(runs.iter().copied()).by_state().into_iter().zip(all);
        let states = states.filter(|(_, (_, total))| *total > 0).map(|((_, count), _)| count);
        let mut cells = vec![TableCell::new(data), TableCell::new(*backbone)];
        cells.extend(states.map(|count| TableCell::new(count.to_string())));
        cells.push(TableCell::new(seed_list(&seeds)));
        cells.push(TableCell::new(losses(runs.iter().copied()).join(", ")));
        cells
    };
    let states = all.into_iter().filter(|(_, count)| *count > 0);
    let mut columns = vec![TableColumn::text("data"), TableColumn::text("model")];
    columns.extend(states.map(|(state, _)| TableColumn::number(state)));
    columns.extend([TableColumn::text("seeds"), TableColumn::text("losses")]);
    let table = Table {
        caption: "Runs by data set and model.".to_owned(),
        columns,
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

fn stopped_table(runs: &[&Run]) -> RunTable {
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
            TableCell::new(match &run.state {
                RunState::Failed(reason) => format!("failed: {reason}"),
                _ => format!("unfinished; rivalry train --resume {}", quoted(&run.path)),
            }),
        ]
    };
    let table = Table {
        caption: "Unfinished and failed runs. They appear in the learning curves only.".to_owned(),
        columns: ["run", "loss", "data", "epoch", "validation", "state"].map(TableColumn::text).into(),
        rows: runs.iter().map(row).collect(),
    };
    RunTable { table, runs: Vec::new() }
}
