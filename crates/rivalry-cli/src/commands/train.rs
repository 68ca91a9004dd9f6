//! `rivalry train`

use rivalry::eval::Metrics;
use std::path::Path;

use rivalry::config::{Config, Select};
use rivalry::data::{IdMap, Interactions};
use rivalry::train::{Ending, trainer};
use rivalry::{Error, InputError};
use rivalry_runs::presets::paper_cells;
use rivalry_runs::run::{ResumedRun, RunFolder, RunRecord};

use super::{load, use_machine};
use crate::args::TrainArgs;
use crate::output::{print, print_json, quoted, say};
use crate::settings::resolve;
use crate::signals;
use crate::table;
use crate::training::{Trained, numbered_folder, print_data_summary, print_model_summary, train};

pub fn run(args: &TrainArgs) -> anyhow::Result<()> {
    use_machine(&args.common.machine)?;
    match &args.resume {
        Some(run) => resume(args, run),
        None => start(args),
    }
}

fn start(args: &TrainArgs) -> anyhow::Result<()> {
    let new = &args.new;
    let config = resolve(new.preset.as_deref(), new.config.as_deref(), args.layer(), &new.set)?;
    let machine = &args.common.machine;
    let dataset = load(&config, &machine.load_options(args.data_dir.as_deref()), args.common.quiet)?;
    trainer(&config, machine.memory()).check(&dataset)?;
    let out = match &new.out {
        Some(out) => out.clone(),
        None => numbered_folder(&Path::new("runs").join(run_name(&dataset.name, &config)))?,
    };
    let folder = RunFolder::create(&out, &config, new.force)?;
    if !args.common.quiet {
        print_data_summary(&dataset);
        print_model_summary(&config, &dataset);
    }
    signals::listen()?;
    let record = train(&folder, &dataset, &config, None, &args.common)?;
    show(args, &folder, &record, &dataset.users, &dataset.train)
}

fn resume(args: &TrainArgs, run: &Path) -> anyhow::Result<()> {
    let ResumedRun { folder, mut config, state, data_checksum, damage } = RunFolder::resume(run)?;
    if let Some(damage) = damage {
        say(format_args!(
            "note    {damage}\n        restarting from the beginning; the result will be the same"
        ));
    }
    let longer = more_epochs(&config, args.epochs)?;
    if let (Some(record), None) = (folder.intact_record()?, longer) {
        if !args.common.quiet {
            let hint = if config.gradient.is_some() { "; extend it with --epochs N" } else { "" };
            say(format_args!("{} is finished{hint}", run.display()));
        }
        let saved = folder.model()?;
        return show(args, &folder, &record, &saved.users, &saved.train);
    }
    let machine = &args.common.machine;
    let dataset = load(&config, &machine.load_options(args.data_dir.as_deref()), args.common.quiet)?;
    data_checksum.map_or(Ok(()), |checksum| dataset.check_same(&checksum))?;
    trainer(&config, machine.memory()).check(&dataset)?;
    if let (Some(epochs), Some(gradient)) = (longer, &mut config.gradient) {
        gradient.train.epochs = epochs;
        folder.extend(&config)?;
    }
    if !args.common.quiet {
        print_data_summary(&dataset);
        print_model_summary(&config, &dataset);
        if let Some(state) = &state {
            say(format_args!("resuming after epoch {}", state.progress.epoch));
        }
    }
    signals::listen()?;
    let record = train(&folder, &dataset, &config, state, &args.common)?;
    show(args, &folder, &record, &dataset.users, &dataset.train)
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
        longer => Ok(longer),
    }
}

/// The default name of a run folder, without characters that are special to shells or file systems.
fn run_name(data: &str, config: &Config) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "._-@+".contains(c) { c } else { '-' };
    format!("{data}-{}", config.method_name()).chars().map(plain).collect()
}

fn show(
    args: &TrainArgs,
    folder: &RunFolder,
    record: &RunRecord,
    users: &IdMap,
    train: &Interactions,
) -> anyhow::Result<()> {
    let run = folder.path();
    if args.common.json {
        return Ok(print_json(&Trained { record, run })?);
    }
    let outcome = &record.outcome;
    let test: Metrics = outcome
        .test
        .iter()
        .chain(outcome.beyond.iter().flatten())
        .map(|(metric, value)| (*metric, *value))
        .collect();
    let mut columns = vec![];
    columns.extend(outcome.valid.as_ref().map(|valid| ("validation", valid)));
    columns.push(("test", &test));
    columns.extend(outcome.head.as_ref().map(|head| ("head", &head.metrics)));
    columns.extend(outcome.tail.as_ref().map(|tail| ("tail", &tail.metrics)));
    let preset = args.new.preset.as_ref();
    let cell = preset.and_then(|name| paper_cells().iter().find(|cell| cell.name() == *name));
    columns.extend(cell.map(|cell| ("published", &cell.published)));
    print(table::metrics(&columns))?;
    let [training, evaluating] = [outcome.seconds.train, outcome.seconds.eval].map(table::seconds);
    print("")?;
    let mut rate = String::new();
    if let Some(epochs) = &outcome.training {
        let chosen = match epochs.select {
            Select::Valid => "best on the validation set",
            Select::Last => "last",
            Select::Test => "best on the test set itself",
        };
        rate = format!(" ({} pairs/s)", table::short(epochs.pairs_per_second));
        let train = folder.config()?.gradient.map(|gradient| gradient.train);
        let early = match (outcome.ending, train.and_then(|train| train.patience.zip(Some(train.epochs)))) {
            (Ending::OutOfPatience, Some((patience, epochs))) => {
                format!(
                    "; stopped after {patience} evaluations without improvement, of at most {epochs} epochs"
                )
            }
            _ => String::new(),
        };
        print(format_args!("epoch   {} of {}, {chosen}{early}", epochs.best_epoch, epochs.epochs))?;
    }
    print(format_args!("time    training {training}{rate}, evaluation {evaluating}"))?;
    print(format_args!("run     {}", run.display()))?;
    if !args.common.quiet {
        let run = quoted(run);
        let user = (0..users.len() as u32).find(|&user| !train.items_of(user).is_empty()).unwrap_or(0);
        let user = quoted(Path::new(users.original(user)));
        print(format_args!("next    rivalry evaluate {run} --buckets --beyond"))?;
        print(format_args!("        rivalry recommend {run} --user {user}"))?;
    }
    Ok(())
}
