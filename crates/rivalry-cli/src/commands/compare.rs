//! `rivalry compare`

use rivalry::eval::MetricAt;
use std::io::Write;
use std::path::Path;

use rivalry::files::write_atomically;
use rivalry::{Error, InputError, Result};
use rivalry_runs::compare::{CompareOptions, Comparison, compare, group_by_method, runs_to_compare};
use rivalry_runs::run::FinishedRun;
use rivalry_runs::stats::Bootstrap;

use super::{RunData, refuse_existing, use_machine};
use crate::args::{CompareArgs, FormatArg};
use crate::comparison;
use crate::counting::CountingBar;
use crate::output::{print, say};

pub fn run(args: &CompareArgs) -> anyhow::Result<()> {
    if let Some(out) = &args.out {
        refuse_existing(out, args.force).map_err(Error::from)?;
    }
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
    let text = rendered(&comparison, args)?;
    match &args.out {
        Some(out) => {
            write_atomically(out, |file| writeln!(file, "{text}"))?;
            say(format_args!("wrote the comparison of {} methods to {}", methods.len(), out.display()));
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

fn rendered(comparison: &Comparison, args: &CompareArgs) -> anyhow::Result<String> {
    if args.json {
        return Ok(serde_json::to_string_pretty(comparison)?);
    }
    Ok(match args.format {
        FormatArg::Table => comparison::terminal(comparison),
        FormatArg::Markdown => comparison::markdown(comparison),
        FormatArg::Latex => comparison::latex(comparison),
        FormatArg::Csv => comparison::csv(comparison)?,
    })
}
