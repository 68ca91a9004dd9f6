//! One file a command: from its arguments to what the user sees.

mod compare;
mod completions;
mod data;
mod doctor;
mod evaluate;
mod inspect;
mod list;
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

/// Does what was asked.
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

/// Sets how many threads there are and how much memory, for everything that follows.
fn use_machine(machine: &Machine) -> anyhow::Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(machine.threads.into());
    pool.build_global().map_err(|e| anyhow!("can't start the threads: {e}"))
}

/// Loads the data a config asks for, and shows a download if it takes one.
fn load(config: &Config, options: &LoadOptions, quiet: bool) -> rivalry::Result<Dataset> {
    let mut bar = DownloadBar::new(quiet);
    library::load(&config.data, options, &mut |progress| bar.update(progress))
}

/// The dense number of an original id. Among very many ids a likely typo would take too long to find.
fn dense_id(noun: &str, ids: &IdMap, original: &str) -> Result<u32, InputError> {
    const MANY: usize = 200_000;
    ids.dense(original).ok_or_else(|| {
        let alike = if ids.len() > MANY { None } else { did_you_mean(original, ids.iter()) };
        let example = ids.iter().next().unwrap_or_default();
        InputError::new(format!("the run knows no {noun} '{original}'")).help(match alike {
            Some(id) => format!("did you mean '{id}'?"),
            None => format!("give an id as it stands in the data, such as '{example}'"),
        })
    })
}

/// Refuses a file that is there already, before anything costly is done.
fn refuse_existing(path: &Path, force: bool) -> Result<(), InputError> {
    if force || !path.exists() {
        return Ok(());
    }
    Err(InputError::new("exists already")
        .file(path)
        .help("choose another name, or add --force to replace it"))
}
