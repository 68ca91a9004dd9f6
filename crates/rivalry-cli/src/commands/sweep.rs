//! `rivalry sweep`

use rivalry::eval::MetricAt;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rivalry::config::{Config, setting_layer};
use rivalry::data::{STANDARD_INPUT, count};
use rivalry::models::MODELS;
use rivalry::{InputError, unknown_name};
use rivalry_runs::sweep::{
    Halving, Origin, SearchSpace, SelectedTrial, SweepFolder, SweepOptions, SweepResult, Trial, TrialState,
};
use serde::Serialize;

use super::{load, use_machine};
use crate::args::SweepArgs;
use crate::inline_grids::InlineGrids;
use crate::output::{print, print_json, quoted, say};
use crate::settings::absolute_source;
use crate::signals::{self, SweepInterrupted};
use crate::sweeping::{SweepDisplay, load_options_per_job, sweep_options};
use crate::table;
use crate::training::{plain_name, print_data_summary};

#[derive(Serialize)]
struct Document<'a> {
    folder: &'a Path,
    #[serde(flatten)]
    result: &'a SweepResult,
}

/// Beyond this many trials a sweep suggests to draw some.
const MANY: usize = 100;

pub fn run(args: &SweepArgs) -> anyhow::Result<()> {
    use_machine(&args.common.machine)?;
    let space = search_space(args)?;
    let trials = space.trials()?;
    let Some(first) = trials.first() else {
        return Err(rivalry::Error::from(
            InputError::new("the search space is empty").help("give a search file, or --loss NAME"),
        )
        .into());
    };
    // Loaded before the folder is created, so that a wrong name or file leaves nothing behind.
    let machine = &args.common.machine;
    let dataset = load(&first.config, &machine.load_options(args.data_dir.as_deref()), args.common.quiet)?;
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("runs/sweep-{}", name(args, &dataset.name))));
    let options = SweepOptions {
        halving: args.halving.then(Halving::default),
        keep_models: args.keep_models,
        shard: args.shard,
        ..sweep_options(args.jobs)
    };
    let load = load_options_per_job(machine, args.data_dir.as_deref(), options.jobs);
    let folder = SweepFolder::open(&out, load)?;
    if !args.common.quiet {
        print_data_summary(&dataset);
        let baselines = trials.iter().filter(|trial| trial.is_baseline()).count();
        let with =
            if baselines > 0 { format!(" ({baselines} of them defaults or presets)") } else { String::new() };
        let all = count(trials.len(), "trial");
        say(format_args!("sweep   {all}{with} in {}, {} in parallel", out.display(), options.jobs));
        trials_by_group(&trials).iter().for_each(|line| say(format_args!("        {line}")));
        if trials.len() > MANY && args.trials.is_none() {
            let halving = if args.halving { "" } else { ", --halving drops poor trials early" };
            say(format_args!("note    that is a large grid: --trials 50 draws some of it{halving}"));
        }
    }
    drop(dataset);
    signals::listen()?;
    let groups: BTreeSet<_> = trials.iter().map(Trial::group).filter(|group| group.loss.is_some()).collect();
    let all = trials.len() + groups.len() * space.seeds().saturating_sub(1);
    let display = SweepDisplay::new(args.common.quiet, all, first.config.eval.selection_metric());
    let found = folder.sweep(&space, &options, &display)?;
    drop(display);
    let Some(result) = found else { return Err(SweepInterrupted { folder: out }.into()) };
    if args.common.json {
        print_json(&Document { folder: &out, result: &result })?;
    } else if !result.selected.is_empty() {
        show(&result, first.config.eval.selection_metric(), &out, args.common.quiet)?;
    }
    if result.selected.is_empty() {
        return Err(rivalry::Error::from(all_failed(&result, &out)).into());
    }
    Ok(())
}

/// How many trials each loss and closed-form model gets, a line each.
fn trials_by_group(trials: &[Trial]) -> Vec<String> {
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for trial in trials {
        counts.entry(trial.group().to_string()).or_default()[usize::from(trial.is_baseline())] += 1;
    }
    let line = |(group, [searched, baselines]): (String, [usize; 2])| match baselines {
        0 => format!("{group}: {}", count(searched, "trial")),
        _ => format!("{group}: {} besides {baselines} of defaults or presets", count(searched, "trial")),
    };
    counts.into_iter().map(line).collect()
}

/// The error if every trial failed, with the reason of the first.
fn all_failed(result: &SweepResult, out: &Path) -> InputError {
    let reason = result.trials.iter().find_map(|trial| match &trial.state {
        TrialState::Failed(reason) => Some(&reason[..]),
        _ => None,
    });
    InputError::new(format!("no trial could be trained: {}", reason.unwrap_or("none was finished")))
        .file(out)
        .help("index.json in that folder has the reason of each; try other values")
}

/// The search space that the file and the flags describe.
pub(super) fn search_space(args: &SweepArgs) -> rivalry::Result<SearchSpace> {
    let mut space = match &args.file {
        Some(file) => SearchSpace::read(file)?,
        None => SearchSpace::new(),
    };
    space = space.with(args.layer()?);
    for setting in &args.set {
        space = space.with(setting_layer(setting)?);
    }
    let inline = InlineGrids::parse(&args.grid)?;
    let named = args.file.is_some() || !args.loss.is_empty() || args.closed_forms().next().is_some();
    let losses = match !named && !inline.keys.is_empty() {
        true => Config::default().loss_name().into_iter().map(str::to_owned).collect(),
        false => args.loss.clone(),
    };
    for loss in &losses {
        space = space.with_loss(loss, inline.of_losses())?;
    }
    for model in args.closed_forms() {
        space = space.with_model(model, inline.of_models())?;
    }
    for (key, values) in inline.keys {
        space = space.with_values(&key, values);
    }
    if let Some(trials) = args.trials {
        space = space.with_draws(trials as usize);
    }
    if let Some(seeds) = args.seeds {
        space = space.with_seeds(seeds as usize);
    }
    if !space.has_grid() {
        return Err(nothing_to_search(&args.model).into());
    }
    space.with_sources(&|source| match source {
        STANDARD_INPUT => {
            Err(InputError::new("a sweep can't read standard input: it loads the data several times")
                .field("data.source")
                .help("save the data to a file, and give its path")
                .into())
        }
        _ => absolute_source(Some(source)),
    })
}

/// The error for a sweep with models that are no trials of their own, or with none.
fn nothing_to_search(models: &[String]) -> InputError {
    let known = || MODELS.iter().map(|entry| entry.name);
    match models.first() {
        Some(name) if known().all(|known| known != name) => {
            unknown_name("model", name, known()).field("--model")
        }
        Some(name) => InputError::new(format!("{name} is trained with a loss, and none is given"))
            .field("--model")
            .help("add --loss NAME, once for each loss to search (see 'rivalry list losses')"),
        None => InputError::new("the search space is empty")
            .help("give a search file with a grid, --loss NAME, --model NAME, or --grid KEY=VALUE,VALUE"),
    }
}

/// The default name of a sweep. The same command always gives the same name, so that it continues the sweep.
fn name(args: &SweepArgs, data: &str) -> String {
    let name = match &args.file {
        Some(file) => file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        None => {
            let losses = args.loss.iter().map(String::as_str);
            std::iter::once(data).chain(losses).chain(args.closed_forms()).collect::<Vec<_>>().join("-")
        }
    };
    plain_name(&name)
}

/// Prints the selected trials with their test metrics at the cut-off of the selection metric.
fn show(result: &SweepResult, metric: MetricAt, out: &Path, quiet: bool) -> std::io::Result<()> {
    let [recall, ndcg] = [MetricAt::recall(metric.k()), MetricAt::ndcg(metric.k())];
    let beside = if metric == recall { ndcg } else { recall };
    let [beside_title, title] = [beside, metric].map(|metric| metric.to_string());
    let value = |x: Option<f64>| x.map_or("–".to_owned(), |x| format!("{x:.4}"));
    let rows = result.selected.iter().map(|selected| {
        let first = selected.seeds.first();
        let run = first.map_or(String::new(), |seed| seed.name.clone());
        [
            selected.group.to_string(),
            settings(selected),
            run,
            selected.tried.to_string(),
            value(selected.valid()),
            value(selected.default),
            test_metric(selected, beside),
            test_metric(selected, metric),
        ]
    });
    let header =
        ["model", "selected on validation", "trial", "tried", "validation", "default", &beside_title, &title];
    print(table::table(header, 3, rows))?;
    for (selected, edge) in
        result.selected.iter().flat_map(|one| one.edges.iter().map(move |edge| (one, edge)))
    {
        print(format_args!("warning {}: {edge}", selected.group))?;
    }
    let failed = result.trials.iter().filter(|trial| matches!(trial.state, TrialState::Failed(_))).count();
    if failed > 0 {
        print(format_args!("\n{failed} trials failed; index.json has the reasons"))?;
    }
    if !quiet {
        let out = quoted(out);
        print(format_args!("\nsweep   {out}, with one folder per trial and index.json"))?;
        print(format_args!("next    rivalry compare {out}"))?;
        print(format_args!("        rivalry report {out} -o report.html"))?;
    }
    Ok(())
}

/// The settings that the sweep selected, and where they come from if they were not searched.
fn settings(selected: &SelectedTrial) -> String {
    let origin = match &selected.origin {
        Origin::Searched => String::new(),
        Origin::Default => " (default)".to_owned(),
        Origin::Preset(name) => format!(" ({name})"),
    };
    let settings =
        selected.settings.iter().filter(|(key, _)| !["loss.type", "model.type"].contains(&&key[..]));
    let settings: Vec<String> =
        settings.map(|(key, value)| format!("{} {value}", key.trim_start_matches("loss."))).collect();
    format!("{}{origin}", settings.join(", ")).trim_start().to_owned()
}

/// A test metric over the seeds.
fn test_metric(selected: &SelectedTrial, metric: MetricAt) -> String {
    selected.test(metric).map_or_else(|| "–".to_owned(), |value| value.to_string())
}
