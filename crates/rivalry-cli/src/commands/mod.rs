//! The commands, one file each.

mod compare;
mod completions;
mod data;
mod doctor;
mod evaluate;
mod inspect;
mod list;
mod list_settings;
mod quickstart;
mod recommend;
mod report;
mod reproduce;
mod rerun;
mod similar;
mod sweep;
mod train;

use std::path::Path;

use anyhow::anyhow;
use rivalry::config::Config;
use rivalry::data::{self as library, Dataset, IdMap, LoadOptions};
use rivalry::{InputError, did_you_mean};

use crate::args::{Command, Machine};
use crate::progress::DownloadBar;

/// Runs a command.
pub fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Quickstart(args) => quickstart::run(args),
        Command::Train(args) => train::run(args),
        Command::Evaluate(args) => evaluate::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Recommend(args) => recommend::run(args),
        Command::Similar(args) => similar::run(args),
        Command::Sweep(args) => sweep::run(args),
        Command::Reproduce(args) => reproduce::run(args),
        Command::Rerun(args) => rerun::run(args),
        Command::Report(args) => report::run(args),
        Command::Data(command) => data::run(command),
        Command::List(args) => list::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Completions { shell } => completions::run(*shell),
    }
}

/// Sets the number of threads and the memory limit of the process.
fn use_machine(machine: &Machine) -> anyhow::Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(machine.threads.into());
    pool.build_global().map_err(|e| anyhow!("can't start the thread pool: {e}"))
}

/// Loads the data set of a config, with a progress bar for downloads.
fn load(config: &Config, options: &LoadOptions, quiet: bool) -> rivalry::Result<Dataset> {
    let mut bar = DownloadBar::new(quiet);
    library::load(&config.data, options, &mut |progress| bar.update(progress))
}

/// The dense id of an original id. The search for a likely typo is skipped where it would take too long.
fn dense_id(noun: &str, ids: &IdMap, original: &str) -> Result<u32, InputError> {
    const MAX_SEARCHED: usize = 200_000;
    ids.dense(original).ok_or_else(|| {
        let similar = if ids.len() > MAX_SEARCHED { None } else { did_you_mean(original, ids.iter()) };
        let example = ids.iter().next().unwrap_or_default();
        InputError::new(format!("no {noun} '{original}' in the training data")).help(match similar {
            Some(id) => format!("did you mean '{id}'?"),
            None => format!("ids are those of the data, such as '{example}'"),
        })
    })
}

/// Refuses an existing output file before anything costly is done.
fn refuse_existing(path: &Path, force: bool) -> Result<(), InputError> {
    if force || !path.exists() {
        return Ok(());
    }
    Err(InputError::new("exists already")
        .file(path)
        .help("choose another name, or add --force to replace it"))
}
