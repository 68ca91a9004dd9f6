//! `rivalry reproduce`

use rivalry::eval::MetricAt;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use clap::ValueEnum;
use rivalry::data::{Validation, catalogue, locate};
use rivalry::files::write_atomically;
use rivalry::models::MODELS;
use rivalry::{Error, InputError, unknown_name};
use rivalry_report::{reproduction_figures, reproduction_markdown};
use rivalry_runs::presets::paper_cells;
use rivalry_runs::reproduce::{
    CellResult, Experiment, Plan, Records, Request, cell_results, collect_records, plan,
};
use rivalry_runs::sweep::{SweepFolder, SweepOptions, Trial};
use serde_json::json;

use super::use_machine;
use crate::args::{FigureArg, ReproduceArgs};
use crate::output::{print, print_json, quoted, say};
use crate::progress::DownloadBar;
use crate::signals::{self, SweepInterrupted};
use crate::sweeping::{SweepDisplay, load_options_per_job, sweep_options};
use crate::table;

pub fn run(args: &ReproduceArgs) -> anyhow::Result<()> {
    use_machine(&args.common.machine)?;
    let plan = plan(&request(args)?)?;
    if let Some(folder) = &args.tables_from {
        return show_records(args, folder, &plan);
    }
    let records = args.record.as_deref().map(Records::new);
    let missing = records.as_ref().map_or_else(|| Ok(plan.clone()), |records| records.missing(&plan))?;
    let options = SweepOptions { keep_models: true, shard: args.shard, ..sweep_options(args.jobs) };
    let estimate = table::seconds(missing.cost() / options.threads as f64);
    if args.dry_run {
        return Ok(show_plan(args, &missing, &estimate)?);
    }
    fetch(args, &missing)?;
    let load = load_options_per_job(&args.common.machine, args.data_dir.as_deref(), options.jobs);
    let folder = SweepFolder::open(&args.out, load)?;
    if !args.common.quiet {
        say(format_args!(
            "{} trainings in {}, about {estimate} in total; {} cells have no settings",
            missing.planned.len(),
            args.out.display(),
            plan.left_out.len()
        ));
    }
    signals::listen()?;
    let trials: Vec<Trial> = missing.planned.iter().map(|planned| planned.trial.clone()).collect();
    let display = SweepDisplay::new(args.common.quiet, trials.len(), MetricAt::ndcg(20));
    let done = folder.run(&trials, &options, &display)?;
    drop(display);
    let measured = cell_results(&collect_records(folder.path(), &plan, records.as_ref(), &mut |planned| {
        folder.dataset(&planned.trial.config)
    })?);
    let text = reproduction_markdown(&measured, &plan);
    write_atomically(&args.out.join("tables.md"), |file| file.write_all(text.as_bytes()))?;
    write_atomically(&args.out.join("tables.json"), |file| {
        serde_json::to_writer_pretty(&mut *file, &measured)?;
        file.write_all(b"\n")
    })?;
    if done.is_none() {
        return Err(SweepInterrupted { folder: args.out.clone() }.into());
    }
    show(args, &measured, &plan, &text)
}

/// Downloads missing data sets before anything is created.
fn fetch(args: &ReproduceArgs, plan: &Plan) -> rivalry::Result<()> {
    let sources: BTreeSet<&str> = plan.planned.iter().map(|planned| &planned.key.data[..]).collect();
    for source in sources {
        let mut bar = DownloadBar::new(args.common.quiet);
        locate(source, args.data_dir.as_deref(), &mut |progress| bar.update(progress))?;
    }
    Ok(())
}

/// Prints the tables of the records in a folder, and draws their figures.
fn show_records(args: &ReproduceArgs, folder: &Path, plan: &Plan) -> anyhow::Result<()> {
    let mut measured = cell_results(&Records::new(folder).all()?);
    measured.retain(|cell| plan.planned.iter().any(|planned| planned.key == cell.key));
    if measured.is_empty() {
        let error = InputError::new("no records of these cells").file(folder);
        return Err(error.help("make some with 'rivalry reproduce --record DIR'").into());
    }
    if let Some(figures) = &args.figures {
        std::fs::create_dir_all(figures).map_err(|error| Error::io("create", figures, error))?;
        for (name, figure) in reproduction_figures(&measured) {
            let path = figures.join(name).with_extension("svg");
            write_atomically(&path, |file| file.write_all(figure.svg().as_bytes()))?;
        }
    }
    if args.common.json {
        return Ok(print_json(&json!({"cells": measured, "left_out": plan.left_out}))?);
    }
    Ok(print(reproduction_markdown(&measured, plan))?)
}

fn show(args: &ReproduceArgs, measured: &[CellResult], plan: &Plan, text: &str) -> anyhow::Result<()> {
    if args.common.json {
        print_json(&json!({"folder": args.out, "cells": measured, "left_out": plan.left_out}))?;
        return Ok(());
    }
    print(text)?;
    if !args.common.quiet {
        print(format_args!("next    rivalry report {} -o report.html", quoted(&args.out)))?;
    }
    Ok(())
}

/// Prints the plan.
fn show_plan(args: &ReproduceArgs, plan: &Plan, estimate: &str) -> std::io::Result<()> {
    if args.common.json {
        let planned = plan.planned.iter();
        let planned: Vec<_> =
            planned.map(|planned| json!({"name": planned.trial.name, "cost": planned.cost})).collect();
        return print_json(&json!({"planned": planned, "left_out": plan.left_out, "cost": plan.cost()}));
    }
    let rows = plan.planned.iter().map(|planned| {
        let settings = if planned.tuned { "tuned" } else { "published" };
        [planned.trial.name.clone(), settings.to_owned(), table::seconds(planned.cost)]
    });
    print(table::table(["training", "settings", "of one core"], 2, rows))?;
    for cell in &plan.left_out {
        // The shifted data sets have no validation set to select settings by.
        let shifted = catalogue()
            .iter()
            .any(|set| set.name == cell.data && set.preparation.validation == Validation::None {});
        print(format_args!(
            "left out: {}/{}/{} has no settings; search for them with: rivalry sweep --data {0}{3} --model {1} --loss {2} --halving",
            cell.data,
            cell.model,
            cell.loss,
            if shifted { " --validation random" } else { "" },
        ))?;
    }
    let noun = if plan.planned.len() == 1 { "training" } else { "trainings" };
    print(format_args!("\n{} {noun}, about {estimate} with all threads", plan.planned.len()))
}

/// The request of the flags. Each `--only` is a table or figure, a data set or a model.
fn request(args: &ReproduceArgs) -> rivalry::Result<Request> {
    let mut request = Request {
        losses: args.loss.clone(),
        seeds: args.seeds,
        epochs: args.epochs.map(|epochs| epochs as usize),
        patience: args.patience.map(|patience| patience as usize),
        shared_negatives: args.fast,
        ..Request::default()
    };
    let data: Vec<&str> = paper_cells().iter().map(|cell| &cell.key.data[..]).collect();
    for word in &args.only {
        let ends = |name: &&&str| {
            **name == word || name.strip_suffix(&word[..]).is_some_and(|rest| rest.ends_with('-'))
        };
        if let Ok(figure) = FigureArg::from_str(word, false) {
            request.experiments.extend(match figure {
                FigureArg::Table1 => &[Experiment::Table1][..],
                FigureArg::Table2 => &[Experiment::Table2],
                FigureArg::Ablation => &[Experiment::Ablation],
                FigureArg::HeadTail => &[Experiment::HeadTail],
                FigureArg::Noise => &[Experiment::FalsePositives, Experiment::FalseNegatives],
            });
        } else if MODELS.iter().any(|entry| entry.name == word) {
            request.backbones.push(word.clone());
        } else if data.iter().any(|name| ends(&name)) {
            request.data.push(word.clone());
        } else {
            let figures = FigureArg::value_variants().iter().filter_map(|figure| figure.to_possible_value());
            let figures: Vec<String> = figures.map(|figure| figure.get_name().to_owned()).collect();
            let data = data.iter().map(|name| name.strip_prefix("amazon2014-").unwrap_or(name));
            let mut known: Vec<&str> =
                figures.iter().map(String::as_str).chain(data).chain(["mf", "lightgcn"]).collect();
            known.dedup();
            return Err(unknown_name("part of the paper", word, known).field("--only").into());
        }
    }
    if let Some(unknown) =
        args.loss.iter().find(|name| !rivalry::loss::LOSSES.iter().any(|entry| entry.name == **name))
    {
        let known = rivalry::loss::LOSSES.iter().map(|entry| entry.name);
        return Err(unknown_name("loss", unknown, known).field("--loss").into());
    }
    if request.experiments.is_empty() {
        request.experiments = Experiment::PAPER.to_vec();
    }
    Ok(request)
}
