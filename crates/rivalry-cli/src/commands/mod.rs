//! The commands, one file each.

mod auto;
mod compare;
mod completions;
mod data;
mod doctor;
#[cfg(all(test, feature = "serve"))]
mod documented;
mod evaluate;
mod export;
mod inspect;
mod list;
mod list_settings;
mod man;
mod quickstart;
mod recommend;
mod report;
mod reproduce;
mod rerun;
mod resume;
#[cfg(feature = "serve")]
mod serve;
mod similar;
mod sweep;
mod targets;
mod train;
mod update;
mod users;

use anyhow::anyhow;
use std::path::Path;

use rivalry::config::Config;
use rivalry::data::{self as library, Dataset, IdMap, LoadOptions};
use rivalry::train as train_library;
use rivalry::{InputError, did_you_mean};
use rivalry_runs::run::RunFolder;

use crate::args::{Command, Machine};
use crate::processes::Processes;
use crate::progress::DownloadBar;
use crate::settings::absolute_source;

/// Runs a command.
pub fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Quickstart(args) => quickstart::run(args),
        Command::Auto(args) => auto::run(args),
        Command::Train(args) => train::run(args),
        Command::Update(args) => update::run(args),
        Command::Evaluate(args) => evaluate::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Recommend(args) => recommend::run(args),
        Command::Export(args) => export::run(args),
        Command::Similar(args) => similar::run(args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args),
        Command::Sweep(args) => sweep::run(args),
        Command::Reproduce(args) => reproduce::run(args),
        Command::Rerun(args) => rerun::run(args),
        Command::Report(args) => report::run(args),
        Command::Data(command) => data::run(command),
        Command::List(args) => list::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Completions { shell } => completions::run(*shell),
        Command::Man { folder } => man::run(folder),
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

/// The same as one of several processes: with the rows that this one needs.
fn load_shared(
    config: &Config,
    options: &LoadOptions,
    quiet: bool,
    processes: &Processes,
) -> rivalry::Result<Dataset> {
    let mut bar = DownloadBar::new(quiet);
    train_library::load_shared(config, options, processes.collective(), &mut |progress| bar.update(progress))
}

/// Where the data of a run are: where they were, or where the user says they are now.
struct RunData<'a> {
    folder: &'a RunFolder,
    config: &'a Config,
    /// The data's new place.
    moved_to: Option<&'a str>,
}

impl RunData<'_> {
    /// Loads the data of the run. The caller checks that they are the same.
    fn load(&self, options: LoadOptions, quiet: bool) -> rivalry::Result<Dataset> {
        let (config, options) = self.found(options)?;
        load(&config, &options, quiet)
    }

    /// Where the data of the run are now.
    fn found(&self, options: LoadOptions) -> rivalry::Result<(Config, LoadOptions)> {
        let mut config = self.config.clone();
        if let Some(source) = self.moved_to {
            config.data.source = absolute_source(Some(source))?;
        } else if let Ok(current) = self.folder.config() {
            // A run that was resumed with --data has the new place there; its model file may be older.
            config.data.source = current.data.source;
        }
        let source = &config.data.source;
        let kept = if *source == library::STANDARD_INPUT { self.folder.standard_input()? } else { None };
        let known = || library::catalogue().iter().any(|entry| entry.name == *source);
        if self.moved_to.is_none() && kept.is_none() && !Path::new(source).exists() && !known() {
            let what = format!("the run's data is no longer at {source}");
            let error = InputError::new(what).file(self.folder.path());
            return Err(error.help("pass its new location with --data").into());
        }
        Ok((config, LoadOptions { standard_input: kept, ..options }))
    }
}

/// Refuses an update of another run where a run is trained again from its config: its data are those of the other run and
/// what came in.
fn refuse_update(folder: &RunFolder) -> rivalry::Result<()> {
    let Some(record) = folder.update()? else { return Ok(()) };
    let quoted = |path: &Path| crate::output::quoted(path);
    let log = record.logs.first().map_or_else(|| "NEW_LOG".to_owned(), |log| quoted(Path::new(&log.source)));
    let again =
        format!("rivalry update {} {log} --out {} --force", quoted(&record.of), quoted(folder.path()));
    Err(InputError::new("is an update of another run, not a training of its own")
        .file(folder.path())
        .help(format!("make it again: {again}"))
        .into())
}

/// The error for an id that the training data don't have. The search for a likely typo is skipped where it would take too
/// long. What else the user can do is added to the help.
fn unknown_id(noun: &str, ids: &IdMap, original: &str, or_else: &str) -> InputError {
    const MAX_SEARCHED: usize = 200_000;
    let similar = if ids.len() > MAX_SEARCHED { None } else { did_you_mean(original, ids.iter()) };
    let example = ids.iter().next().unwrap_or_default();
    let help = match similar {
        Some(id) => format!("did you mean '{id}'?{or_else}"),
        None => format!("ids are those of the data, such as '{example}'{or_else}"),
    };
    InputError::new(format!("no {noun} '{original}' in the training data")).help(help)
}
