//! `rivalry sweep`

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rivalry::InputError;
use rivalry::config::setting_layer;
use rivalry_runs::experiment::{Chosen, Findings, Halving, Lab, Order, Search, State, Trial};
use rivalry_runs::stats::Summary;
use serde::Serialize;

use super::{load, use_machine};
use crate::args::SweepArgs;
use crate::experiment::{Display, order, per_job};
use crate::output::{print, print_json, quoted, say};
use crate::settings::absolute_source;
use crate::signals::{self, SweepInterrupted};
use crate::table;
use crate::training::print_data_summary;

#[derive(Serialize)]
struct Document<'a> {
    folder: &'a Path,
    #[serde(flatten)]
    findings: &'a Findings,
}

pub fn run(args: &SweepArgs) -> anyhow::Result<()> {
    use_machine(&args.common.machine)?;
    let search = search(args)?;
    let trials = search.trials()?;
    let Some(first) = trials.first() else {
        return Err(rivalry::Error::from(
            InputError::new("there is nothing to try").help("give a search file, or --loss NAME"),
        )
        .into());
    };
    // Read before anything is made, so that a wrong name or file leaves nothing behind.
    let dataset =
        load(&first.config, &args.common.machine.load_options(args.data_dir.as_deref()), args.common.quiet)?;
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("runs/sweep-{}", name(args, &dataset.name))));
    let lab =
        Lab::open(&out, per_job(&args.common.machine, args.data_dir.as_deref(), args.jobs.map(usize::from)))?;
    let order = Order {
        halving: args.halving.then(Halving::default),
        keep_models: args.keep_models,
        ..order(args.jobs.map(usize::from))
    };
    if !args.common.quiet {
        print_data_summary(&dataset);
        say(format_args!(
            "sweep   {} trials in {}, {} side by side",
            trials.len(),
            out.display(),
            order.jobs
        ));
    }
    drop(dataset);
    signals::listen()?;
    let contests: BTreeSet<_> = trials.iter().map(Trial::contest).collect();
    let all = trials.len() + contests.len() * search.seeds().saturating_sub(1);
    let display = Display::new(args.common.quiet, all, first.config.eval.selection_metric());
    let found = lab.search(&search, &order, &display)?;
    drop(display);
    let Some(findings) = found else { return Err(SweepInterrupted { folder: out }.into()) };
    if args.common.json {
        print_json(&Document { folder: &out, findings: &findings })?;
    } else if !findings.chosen.is_empty() {
        show(&findings, &first.config.eval.selection_metric(), &out, args.common.quiet)?;
    }
    if findings.chosen.is_empty() {
        return Err(rivalry::Error::from(nothing_works(&findings, &out)).into());
    }
    Ok(())
}

/// Every trial has failed; why the first one did.
fn nothing_works(findings: &Findings, out: &Path) -> InputError {
    let reason = findings.trials.iter().find_map(|trial| match &trial.state {
        State::Failed(reason) => Some(&reason[..]),
        _ => None,
    });
    InputError::new(format!("no trial could be trained: {}", reason.unwrap_or("none was finished")))
        .file(out)
        .help("index.json there says why for each; try other values")
}

/// The search that file and flags ask for.
fn search(args: &SweepArgs) -> rivalry::Result<Search> {
    let mut search = match &args.file {
        Some(file) => Search::read(file)?,
        None => Search::new(),
    };
    search = search.with(args.layer());
    for setting in &args.set {
        search = search.with(setting_layer(setting)?);
    }
    for loss in &args.loss {
        search = search.with_loss(loss)?;
    }
    if let Some(trials) = args.trials {
        search = search.with_draws(trials as usize);
    }
    if let Some(seeds) = args.seeds {
        search = search.with_seeds(seeds as usize);
    }
    if !search.has_grid() {
        return Err(InputError::new("there is nothing to try")
            .help("give a search file with a grid, or --loss NAME for the grid that comes with the loss")
            .into());
    }
    search.with_sources(&|source| absolute_source(Some(source)))
}

/// What a sweep is called if the user doesn't say. The same command must find the same folder again.
fn name(args: &SweepArgs, data: &str) -> String {
    let name = match &args.file {
        Some(file) => file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        None => {
            std::iter::once(data).chain(args.loss.iter().map(String::as_str)).collect::<Vec<_>>().join("-")
        }
    };
    let plain = |c: char| if c.is_alphanumeric() || "._-@+".contains(c) { c } else { '-' };
    name.chars().map(plain).collect()
}

/// What was chosen, with its test figures at the length of list that epochs are chosen by.
fn show(findings: &Findings, ndcg: &str, out: &Path, quiet: bool) -> std::io::Result<()> {
    let recall = &ndcg.replace("NDCG", "Recall");
    let value = |x: Option<f64>| x.map_or("–".to_owned(), |x| format!("{x:.4}"));
    let rows = findings.chosen.iter().map(|chosen| {
        let first = chosen.seeds.first();
        let run = first.map_or(String::new(), |seed| seed.name.clone());
        [
            format!("{} {}", chosen.backbone, chosen.loss),
            settings(chosen),
            run,
            chosen.tried.to_string(),
            value(first.and_then(|seed| seed.valid)),
            spread(chosen, recall),
            spread(chosen, ndcg),
        ]
    });
    let header = ["model", "chosen on validation", "trial", "tried", "validation", recall, ndcg];
    print(table::table(header, 3, rows))?;
    let failed = findings.trials.iter().filter(|trial| matches!(trial.state, State::Failed(_))).count();
    if failed > 0 {
        print(format_args!("\n{failed} trials failed; index.json says why"))?;
    }
    if !quiet {
        let out = quoted(out);
        print(format_args!("\nsweep   {out}, with one folder a trial and index.json"))?;
        print(format_args!("next    rivalry compare {out}"))?;
        print(format_args!("        rivalry report {out} -o report.html"))?;
    }
    Ok(())
}

/// The settings a search decided, in short.
fn settings(chosen: &Chosen) -> String {
    let own = chosen.settings.iter().filter(|(key, _)| *key != "loss.type");
    let own: Vec<String> =
        own.map(|(key, value)| format!("{} {value}", key.trim_start_matches("loss."))).collect();
    own.join(", ")
}

/// A test metric over the seeds.
fn spread(chosen: &Chosen, metric: &str) -> String {
    match chosen.test(metric) {
        None => "–".to_owned(),
        Some(Summary { mean, deviation: None }) => format!("{mean:.4}"),
        Some(Summary { mean, deviation: Some(deviation) }) => format!("{mean:.4} ± {deviation:.4}"),
    }
}
