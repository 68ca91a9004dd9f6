//! `rivalry compare`

use std::path::Path;

use clap::ValueEnum;
use rivalry::eval::MetricAt;
use rivalry::files::Output;
use rivalry::{InputError, Result};
use rivalry_runs::compare::{CompareOptions, Comparison, compare, group_by_method, runs_to_compare};
use rivalry_runs::run::{FinishedRun, output_to};
use rivalry_runs::stats::Bootstrap;

use super::{RunData, use_machine};
use crate::args::{CompareArgs, FormatArg};
use crate::comparison;
use crate::counting::CountingBar;
use crate::output::{print, say};

pub fn run(args: &CompareArgs) -> anyhow::Result<()> {
    let output = args.out.as_deref().map(|out| output_to(out, args.force)).transpose()?;
    let format = format(args, output.as_ref())?;
    let options = options(args)?;
    use_machine(&args.machine)?;
    let paths: Vec<&Path> = args.runs.iter().map(|path| &**path).collect();
    let runs = runs_to_compare(&paths)?;
    let runs = runs.iter().map(|path| FinishedRun::open(path)).collect::<Result<Vec<_>>>()?;
    let methods = group_by_method(runs)?;
    let FinishedRun { folder, config, .. } = &methods[0].runs[0];
    let data = RunData { folder, config, moved_to: args.data.as_deref() };
    let dataset = data.load(args.machine.load_options(args.data_dir.as_deref()), false)?;
    let bar = CountingBar::new("runs evaluated");
    let comparison =
        compare(&methods, &dataset, &options, &mut |progress| bar.update(progress.done, progress.total))?;
    drop(bar);
    let text = rendered(&comparison, format)?;
    match &output {
        Some(output) => {
            output.write_all(format!("{text}\n").as_bytes())?;
            let to = output.path().display();
            say(format_args!("wrote the comparison of {} methods to {to}", methods.len()));
        }
        None => print(text)?,
    }
    Ok(())
}

fn options(args: &CompareArgs) -> Result<CompareOptions> {
    let default = CompareOptions::default();
    let metrics = if !args.metric.is_empty() {
        args.metric.iter().map(|text| user_metric(text)).collect::<Result<Vec<MetricAt>>>()?
    } else if !args.k.is_empty() {
        let at = |&k: &u32| default.metrics.iter().map(move |metric| metric.at(k as usize));
        args.k.iter().flat_map(at).collect()
    } else {
        default.metrics.clone()
    };
    let mut different: Vec<MetricAt> = Vec::new();
    for metric in metrics {
        if !different.contains(&metric) {
            different.push(metric);
        }
    }
    let bootstrap = Bootstrap { resamples: args.resamples as usize, seed: args.seed, ..Bootstrap::default() };
    Ok(CompareOptions { baseline: args.baseline.clone(), metrics: different, bootstrap })
}

/// A metric with a value for each user, such as `NDCG@20`: what the tests pair.
fn user_metric(text: &str) -> Result<MetricAt> {
    let metric: MetricAt = text.parse()?;
    if metric.entry().is_none() {
        let what = format!("{} has no value for single users, so it can't be compared", metric.label());
        return Err(InputError::new(what).help("it is in the table of lists without being asked for").into());
    }
    Ok(metric)
}

/// The format asked for, or else the one that the extension of a file stands for.
fn format(args: &CompareArgs, output: Option<&Output>) -> Result<FormatArg> {
    let asked = if args.json { Some(FormatArg::Json) } else { args.format };
    let Some(file) = output.and_then(|output| output.file().map(|_| output.path())) else {
        return Ok(asked.unwrap_or(FormatArg::Table));
    };
    let extension = file.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let by_name = FormatArg::value_variants().iter().find(|format| format.extension() == extension).copied();
    match (asked, by_name) {
        (Some(asked), Some(other)) if asked != other => {
            let what = format!("the extension is not that of the format asked for, .{}", asked.extension());
            Err(InputError::new(what).file(file).help("leave --format out, or rename the file").into())
        }
        (Some(format), _) | (None, Some(format)) => Ok(format),
        (None, None) => Err(InputError::new("can't tell the format from this file name")
            .file(file)
            .help("there are .txt, .md, .tex, .csv and .json; or give --format")
            .into()),
    }
}

fn rendered(comparison: &Comparison, format: FormatArg) -> anyhow::Result<String> {
    Ok(match format {
        FormatArg::Json => serde_json::to_string_pretty(comparison)?,
        FormatArg::Table => comparison::terminal(comparison),
        FormatArg::Markdown => comparison::markdown(comparison),
        FormatArg::Latex => comparison::latex(comparison),
        FormatArg::Csv => comparison::csv(comparison)?,
    })
}
