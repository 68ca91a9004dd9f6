//! `rivalry train --resume`

use std::path::Path;

use rivalry::config::{Config, parse_layer};
use rivalry::data::{Dataset, LoadOptions};
use rivalry::eval::EvalPart;
use rivalry::model::Model;
use rivalry::train::{TrainingState, shared_trainer};
use rivalry::{Error, InputError};
use rivalry_runs::run::{ResumedRun, RunFolder, RunRecord};

use super::train::show;
use super::{RunData, load_shared, refuse_update};
use crate::args::TrainArgs;
use crate::output::say;
use crate::processes::{Processes, together};
use crate::settings::absolute_source;
use crate::signals;
use crate::training::{
    damage_note, print_data_summary, print_model_summary, train_together, warn_of_artefacts,
    warn_of_nothing_learned,
};

pub(super) fn resume(args: &TrainArgs, run: &Path, processes: &Processes) -> anyhow::Result<()> {
    let opened = processes.agree(match processes.is_root() {
        true => open(args, run),
        false => Ok(None),
    })?;
    // The other ranks need not see the folder.
    let config = opened.as_ref().map(|opened| opened.config.to_toml());
    let config = processes.collective().broadcast(config.unwrap_or_default().into_bytes());
    if config.is_empty() {
        return Ok(());
    }
    let config = match &opened {
        Some(opened) => opened.config.clone(),
        None => Config::from_layers(&[parse_layer(&String::from_utf8_lossy(&config), run)?])?,
    };
    processes.check_same("programs", &together::program())?;
    let found = processes.agree(data_of(args, &config, opened.as_ref(), processes))?;
    let dataset = processes.agree(dataset_of(args, &config, found, opened.as_ref(), processes))?;
    processes.check_same("data", &dataset.checksum)?;
    let opened = processes.agree(opened.map(go_on).transpose())?;
    if let (Some(Opened { state, .. }), false) = (&opened, args.common.quiet) {
        print_data_summary(&dataset);
        print_model_summary(&config, &dataset);
        warn_of_artefacts(&dataset, EvalPart::Test, &config.eval);
        if let Some(state) = state {
            say(format_args!("resuming after epoch {}", state.progress.epoch));
        }
    }
    signals::listen()?;
    let (folder, state) = opened.map(|opened| (opened.folder, opened.state)).unzip();
    let record =
        train_together(folder.as_ref(), (&dataset, &config), state.flatten(), &args.common, processes)?;
    match folder.zip(record) {
        Some((folder, record)) => show(args, &folder, &record, &dataset.users, &dataset.train),
        None => Ok(()),
    }
}

/// A run that goes on.
struct Opened {
    folder: RunFolder,
    /// Its config, with more epochs or other data if these are asked for.
    config: Config,
    state: Option<TrainingState>,
    data_checksum: Option<String>,
    /// Whether the config is another than that in the folder.
    is_changed: bool,
}

/// Opens a run to go on with it; `None` if it is finished, which is shown.
fn open(args: &TrainArgs, run: &Path) -> anyhow::Result<Option<Opened>> {
    let ResumedRun { folder, mut config, state, data_checksum, damage } = RunFolder::resume(run)?;
    refuse_update(&folder)?;
    let longer = more_epochs(&config, args.epochs)?;
    if let Some(damage) = state.as_ref().map(|state| folder.restore_log(state)).transpose()?.flatten() {
        say(format_args!("note    {damage}\n        made again from the checkpoint"));
    }
    if longer.is_none()
        && let Some((record, saved)) = finished(&folder, damage.as_ref())?
    {
        if !args.common.quiet {
            let hint = if config.gradient.is_some() { "; extend it with --epochs N" } else { "" };
            say(format_args!("{} is finished{hint}", run.display()));
        }
        warn_of_nothing_learned(&record);
        show(args, &folder, &record, &saved.users, &saved.train)?;
        return Ok(None);
    }
    damage.iter().for_each(|damage| say(damage_note(damage)));
    if let (Some(epochs), Some(gradient)) = (longer, &mut config.gradient) {
        gradient.train.epochs = epochs;
    }
    if let Some(source) = &args.new.data {
        config.data.source = absolute_source(Some(source))?;
    }
    let is_changed = longer.is_some() || args.new.data.is_some();
    Ok(Some(Opened { folder, config, state, data_checksum, is_changed }))
}

/// Where the data of a run that goes on are.
fn data_of(
    args: &TrainArgs,
    config: &Config,
    opened: Option<&Opened>,
    processes: &Processes,
) -> anyhow::Result<(Config, LoadOptions)> {
    let options = args.common.machine.load_options(args.data_dir.as_deref());
    if processes.collective().size() > 1 {
        together::refuse_standard_input(config)?;
    }
    match opened {
        Some(Opened { folder, .. }) => {
            let data = RunData { folder, config, moved_to: args.new.data.as_deref() };
            Ok(data.found(options)?)
        }
        None => Ok((config.clone(), options)),
    }
}

/// The data of a run that goes on, from where they were found.
fn dataset_of(
    args: &TrainArgs,
    config: &Config,
    (found, options): (Config, LoadOptions),
    opened: Option<&Opened>,
    processes: &Processes,
) -> anyhow::Result<Dataset> {
    let quiet = args.common.quiet || !processes.is_root();
    let dataset = load_shared(&found, &options, quiet, processes)?;
    if let Some(checksum) = opened.and_then(|opened| opened.data_checksum.as_ref()) {
        dataset.check_same(checksum)?;
    }
    shared_trainer(config, args.common.machine.memory(), processes.collective()).check(&dataset)?;
    Ok(dataset)
}

/// Writes what changes in the folder of a run before it goes on.
fn go_on(opened: Opened) -> anyhow::Result<Opened> {
    if opened.is_changed {
        opened.folder.extend(&opened.config)?;
    }
    if opened.state.is_none() {
        opened.folder.start_over()?;
    }
    Ok(opened)
}

/// The figures and the model of a finished run. If they or the log are damaged, the training goes on and makes them
/// again; a damaged checkpoint is only reported, because a finished run needs none.
fn finished(folder: &RunFolder, damage: Option<&Error>) -> Result<Option<(RunRecord, Model)>, Error> {
    let found = folder.record().and_then(|record| {
        let Some(record) = record else { return Ok(None) };
        folder.log()?;
        folder.model().map(|model| Some((record, model)))
    });
    match found {
        Ok(Some(found)) => {
            if let Some(damage) = damage {
                say(format_args!(
                    "note    {damage}\n        the run can be extended from the beginning only"
                ));
            }
            Ok(Some(found))
        }
        Err(fault) if fault.is_damage() => {
            if damage.is_none() {
                say(format_args!("note    {fault}\n        making it again; the result will be the same"));
            }
            Ok(None)
        }
        other => other,
    }
}

/// The new number of epochs, if it changes. A run can be extended, but not shortened.
fn more_epochs(config: &Config, wanted: Option<u32>) -> Result<Option<usize>, Error> {
    let own = match (&config.gradient, wanted) {
        (_, None) => return Ok(None),
        (Some(gradient), _) => gradient.train.epochs,
        (None, Some(_)) => {
            let what = format!("{} is a closed-form model: it has no epochs", config.model.name());
            return Err(InputError::new(what).field("--epochs").help("remove --epochs").into());
        }
    };
    match wanted.map(|epochs| epochs as usize).filter(|&epochs| epochs != own) {
        Some(fewer) if fewer < own => {
            let error =
                InputError::new(format!("the run has {own} epochs; it can be extended, but not shortened"));
            Err(error.field("--epochs").help("remove --epochs, or train a new run").into())
        }
        Some(_) if config.gradient.as_ref().is_some_and(|gradient| gradient.optim.has_schedule()) => {
            let what =
                format!("the learning rate of the run decays over its {own} epochs; it can't be extended");
            Err(InputError::new(what).field("--epochs").help("remove --epochs, or train a new run").into())
        }
        longer => Ok(longer),
    }
}
