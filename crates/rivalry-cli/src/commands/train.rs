//! `rivalry train`

use rivalry::eval::{EvalPart, Metrics};
use std::path::Path;

use rivalry::config::{Config, Select, setting_layer};
use rivalry::data::{Dataset, IdMap, Interactions, LoadOptions};
use rivalry::train::{Ending, shared_trainer};
use rivalry_runs::presets::paper_cells;
use rivalry_runs::run::{RunFolder, RunRecord};

use super::{load_shared, resume, use_machine};
use crate::args::TrainArgs;
use crate::output::{print, print_json, quoted, say, warn_skipped};
use crate::processes::{Processes, together};
use crate::settings::layers;
use crate::signals;
use crate::standard_input::read_if_asked;
use crate::table;
use crate::training::{
    Trained, numbered_folder, plain_name, print_data_summary, print_model_summary, train_together,
    warn_of_artefacts,
};

pub fn run(args: &TrainArgs) -> anyhow::Result<()> {
    use_machine(&args.common.machine)?;
    Processes::start()?.run(|processes| match &args.resume {
        Some(run) => resume::resume(args, run, processes),
        None => start(args, processes),
    })
}

fn start(args: &TrainArgs, processes: &Processes) -> anyhow::Result<()> {
    processes.check_same("programs", &together::program())?;
    let settings = processes.agree(Settings::new(args, processes))?;
    // They load the data together, which takes the same settings; those that depend on the data are compared afterwards.
    processes.check_same("settings", &settings.config.to_toml())?;
    let prepared = processes.agree(prepare(args, settings, processes))?;
    let Prepared { config, dataset, shortened, .. } = &prepared;
    processes.check_same("settings", &config.to_toml())?;
    processes.check_same("data", &dataset.checksum)?;
    let folder = processes.agree(match processes.is_root() {
        true => create(args, &prepared).map(Some),
        false => Ok(None),
    })?;
    if folder.is_some() && !args.common.quiet {
        print_data_summary(dataset);
        print_model_summary(config, dataset);
        warn_of_artefacts(dataset, EvalPart::Test, &config.eval);
        if let Some(k) = shortened.filter(|_| !dataset.test.is_empty()) {
            say(format_args!(
                "note    there are fewer than 20 items, so metrics are measured at K = {k}; -k chooses another"
            ));
        }
    }
    signals::listen()?;
    let record = train_together(folder.as_ref(), (dataset, config), None, &args.common, processes)?;
    match folder.zip(record) {
        Some((folder, record)) => show(args, &folder, &record, &dataset.users, &dataset.train),
        None => Ok(()),
    }
}

/// What a new run is trained on, and how.
struct Prepared {
    config: Config,
    dataset: Dataset,
    options: LoadOptions,
    /// The list length, if it is shorter than the default because there are few items.
    shortened: Option<usize>,
}

/// What is known of a run before its data are.
struct Settings {
    layers: Vec<toml::Table>,
    config: Config,
    options: LoadOptions,
}

impl Settings {
    fn new(args: &TrainArgs, processes: &Processes) -> anyhow::Result<Self> {
        let new = &args.new;
        let mut layers = layers(new.preset.as_deref(), new.config.as_deref(), args.layer(), &new.set)?;
        let mut config = Config::from_layers(&layers)?;
        let is_set =
            |layer: &toml::Table| layer.get("train").is_some_and(|train| train.get("shards").is_some());
        if config.gradient.is_some() && !layers.iter().any(is_set) && processes.default_shards() > 1 {
            layers.insert(0, setting_layer(&format!("train.shards={}", processes.default_shards()))?);
            config = Config::from_layers(&layers)?;
        }
        let options = args.common.machine.load_options(args.data_dir.as_deref());
        let options = match processes.collective().size() {
            1 => read_if_asked(&config.data, options)?,
            _ => together::refuse_standard_input(&config).map(|()| options)?,
        };
        Ok(Self { layers, config, options })
    }
}

fn prepare(args: &TrainArgs, settings: Settings, processes: &Processes) -> anyhow::Result<Prepared> {
    let Settings { layers, config, options } = settings;
    let quiet = args.common.quiet || !processes.is_root();
    let dataset = load_shared(&config, &options, quiet, processes)?;
    let mut config = Config::from_layers_for(&layers, dataset.train.len())?;
    let given = args.layer().get("eval").is_some_and(|eval| eval.get("k").is_some());
    let shortened = if given { None } else { config.eval.fit_default(dataset.items.len()) };
    dataset.split.iter().for_each(|split| split.resolve(&mut config.data.prepare));
    shared_trainer(&config, args.common.machine.memory(), processes.collective()).check(&dataset)?;
    Ok(Prepared { config, dataset, options, shortened })
}

/// Creates the folder of a new run.
fn create(args: &TrainArgs, prepared: &Prepared) -> anyhow::Result<RunFolder> {
    let Prepared { config, dataset, options, .. } = prepared;
    let out = match &args.new.out {
        Some(out) => out.clone(),
        None => numbered_folder(&Path::new("runs").join(run_name(&dataset.name, config)))?,
    };
    let folder = RunFolder::create(&out, config, args.new.force)?;
    options.standard_input.as_ref().map_or(Ok(()), |content| folder.keep_standard_input(content))?;
    Ok(folder)
}

/// The default name of a run folder.
fn run_name(data: &str, config: &Config) -> String {
    plain_name(&format!("{data}-{}", config.method_name()))
}

pub(super) fn show(
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
        let user = (0..users.len() as u32).find(|&user| train.count_of(user) > 0).unwrap_or(0);
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
