//! `rivalry train`

use rivalry::eval::{EvalPart, Metrics};
use std::path::Path;

use rivalry::config::{Config, Select};
use rivalry::data::{IdMap, Interactions};
use rivalry::model::Model;
use rivalry::train::{Ending, trainer};
use rivalry::{Error, InputError};
use rivalry_runs::presets::paper_cells;
use rivalry_runs::run::{ResumedRun, RunFolder, RunRecord};

use super::{RunData, load, refuse_update, use_machine};
use crate::args::TrainArgs;
use crate::output::{print, print_json, quoted, say, warn_skipped};
use crate::settings::{absolute_source, layers};
use crate::signals;
use crate::standard_input::read_if_asked;
use crate::table;
use crate::training::{
    Trained, damage_note, numbered_folder, plain_name, print_data_summary, print_model_summary, train,
    warn_of_artefacts, warn_of_nothing_learned,
};

pub fn run(args: &TrainArgs) -> anyhow::Result<()> {
    use_machine(&args.common.machine)?;
    match &args.resume {
        Some(run) => resume(args, run),
        None => start(args),
    }
}

fn start(args: &TrainArgs) -> anyhow::Result<()> {
    let new = &args.new;
    let layers = layers(new.preset.as_deref(), new.config.as_deref(), args.layer(), &new.set)?;
    let config = Config::from_layers(&layers)?;
    let machine = &args.common.machine;
    let options = read_if_asked(&config.data, machine.load_options(args.data_dir.as_deref()))?;
    let dataset = load(&config, &options, args.common.quiet)?;
    let mut config = Config::from_layers_for(&layers, dataset.train.len())?;
    let given = args.layer().get("eval").is_some_and(|eval| eval.get("k").is_some());
    let shortened = if given { None } else { config.eval.fit_default(dataset.items.len()) };
    dataset.split.iter().for_each(|split| split.resolve(&mut config.data.prepare));
    trainer(&config, machine.memory()).check(&dataset)?;
    let out = match &new.out {
        Some(out) => out.clone(),
        None => numbered_folder(&Path::new("runs").join(run_name(&dataset.name, &config)))?,
    };
    let folder = RunFolder::create(&out, &config, new.force)?;
    options.standard_input.map_or(Ok(()), |content| folder.keep_standard_input(&content))?;
    if !args.common.quiet {
        print_data_summary(&dataset);
        print_model_summary(&config, &dataset);
        warn_of_artefacts(&dataset, EvalPart::Test, &config.eval);
        if let Some(k) = shortened.filter(|_| !dataset.test.is_empty()) {
            say(format_args!(
                "note    there are fewer than 20 items, so metrics are measured at K = {k}; -k chooses another"
            ));
        }
    }
    signals::listen()?;
    let record = train(&folder, &dataset, &config, None, &args.common)?;
    show(args, &folder, &record, &dataset.users, &dataset.train)
}

fn resume(args: &TrainArgs, run: &Path) -> anyhow::Result<()> {
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
        return show(args, &folder, &record, &saved.users, &saved.train);
    }
    damage.iter().for_each(|damage| say(damage_note(damage)));
    let machine = &args.common.machine;
    let data = RunData { folder: &folder, config: &config, moved_to: args.new.data.as_deref() };
    let dataset = data.load(machine.load_options(args.data_dir.as_deref()), args.common.quiet)?;
    data_checksum.map_or(Ok(()), |checksum| dataset.check_same(&checksum))?;
    trainer(&config, machine.memory()).check(&dataset)?;
    if let Some(source) = &args.new.data {
        config.data.source = absolute_source(Some(source))?;
    }
    if let (Some(epochs), Some(gradient)) = (longer, &mut config.gradient) {
        gradient.train.epochs = epochs;
    }
    if longer.is_some() || args.new.data.is_some() {
        folder.extend(&config)?;
    }
    if state.is_none() {
        folder.start_over()?;
    }
    if !args.common.quiet {
        print_data_summary(&dataset);
        print_model_summary(&config, &dataset);
        warn_of_artefacts(&dataset, EvalPart::Test, &config.eval);
        if let Some(state) = &state {
            say(format_args!("resuming after epoch {}", state.progress.epoch));
        }
    }
    signals::listen()?;
    let record = train(&folder, &dataset, &config, state, &args.common)?;
    show(args, &folder, &record, &dataset.users, &dataset.train)
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

/// The default name of a run folder.
fn run_name(data: &str, config: &Config) -> String {
    plain_name(&format!("{data}-{}", config.method_name()))
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
        print_json(&Trained { record, run })?;
        warn_skipped(&record.skipped_rows);
        return Ok(());
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
    columns.extend((!test.is_empty()).then_some(("test", &test)));
    columns.extend(outcome.head.as_ref().map(|head| ("head", &head.metrics)));
    columns.extend(outcome.tail.as_ref().map(|tail| ("tail", &tail.metrics)));
    let preset = args.new.preset.as_ref();
    let cell = preset.and_then(|name| paper_cells().iter().find(|cell| cell.name() == *name));
    columns.extend(cell.map(|cell| ("published", &cell.published)));
    if columns.is_empty() {
        print("trained on all pairs: there is no validation or test set to measure on")?;
    } else {
        print(table::metrics(&columns))?;
    }
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
        let recommend = format!("rivalry recommend {run} --user {user}");
        if outcome.test.is_empty() {
            print(format_args!("next    {recommend}"))?;
        } else {
            print(format_args!("next    rivalry evaluate {run} --buckets --beyond"))?;
            print(format_args!("        {recommend}"))?;
        }
    }
    warn_skipped(&record.skipped_rows);
    Ok(())
}
