//! `rivalry quickstart`

use std::path::Path;

use rivalry::Result;
use rivalry::config::{Config, source_layer};
use rivalry::data::Dataset;
use rivalry::eval::MetricAt;
use rivalry_report::Report;
use rivalry_runs::compare::{CompareOptions, Comparison, MethodSummary, compare, group_by_method};
use rivalry_runs::run::{FinishedRun, RunFolder, RunRecord, output_to};
use serde_json::json;

use super::{load, use_machine};
use crate::args::QuickstartArgs;
use crate::output::{print, print_json};
use crate::settings::resolve;
use crate::signals;
use crate::table;
use crate::training::{Trained, numbered_folder, print_data_summary, print_model_summary, train};

/// The methods, each with its default settings: a strong closed form, the softmax loss, and what `train` does where no
/// loss is chosen. The trainings are shortened.
const METHODS: [(&str, &[&str]); 3] = [
    ("ease", &["model.type=ease"]),
    ("sl", &["loss.type=sl", "train.epochs=30", "train.negatives=200"]),
    ("default", &["train.epochs=30", "train.negatives=200"]),
];

pub fn run(args: &QuickstartArgs) -> anyhow::Result<()> {
    use_machine(&args.common.machine)?;
    let mut configs = Vec::new();
    for (_, settings) in METHODS {
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        configs.push(resolve(None, None, source_layer("synthetic"), &settings)?);
    }
    let dataset = load(&configs[0], &args.common.machine.load_options(None), args.common.quiet)?;
    let out = match &args.out {
        Some(out) => out.clone(),
        None => numbered_folder(Path::new("runs/quickstart"))?,
    };
    // All folders are checked before the first training.
    for (name, _) in METHODS {
        RunFolder::check_free(&out.join(name), args.force)?;
    }
    let folders = METHODS.iter().zip(&configs);
    let folders = folders.map(|((name, _), config)| RunFolder::create(&out.join(name), config, args.force));
    let folders: Vec<RunFolder> = folders.collect::<Result<_, _>>()?;
    if !args.common.quiet {
        print_data_summary(&dataset);
    }
    signals::listen()?;
    let mut records = Vec::new();
    for (folder, config) in folders.iter().zip(&configs) {
        records.push(train_one(folder, config, &dataset, args)?);
    }
    let records: Vec<(&RunFolder, RunRecord)> = folders.iter().zip(records).collect();
    if args.common.json {
        let runs = records.iter().map(|(folder, record)| Trained { record, run: folder.path() });
        let document = METHODS.iter().zip(runs).map(|((name, _), run)| ((*name).to_owned(), json!(run)));
        print_json(&document.collect::<serde_json::Map<_, _>>())?;
        return Ok(());
    }
    show_table(&records)?;
    if !args.common.quiet {
        show_verdict(&records, &dataset)?;
        show_next(&out, args)?;
    }
    Ok(())
}

fn train_one(
    folder: &RunFolder,
    config: &Config,
    dataset: &Dataset,
    args: &QuickstartArgs,
) -> anyhow::Result<RunRecord> {
    if !args.common.quiet {
        print_model_summary(config, dataset);
    }
    train(folder, dataset, config, None, &args.common)
}

fn show_table(records: &[(&RunFolder, RunRecord)]) -> std::io::Result<()> {
    let rows = METHODS.iter().zip(records).map(|((name, _), (folder, record))| {
        let outcome = &record.outcome;
        let metric = |metric: MetricAt| {
            outcome.test.get(&metric).map_or_else(String::new, |value| format!("{value:.4}"))
        };
        let time = table::seconds(outcome.seconds.train + outcome.seconds.eval);
        [
            (*name).to_owned(),
            folder.path().display().to_string(),
            metric(MetricAt::recall(20)),
            metric(MetricAt::ndcg(20)),
            time,
        ]
    });
    print(table::table(["method", "run", "Recall@20", "NDCG@20", "time"], 2, rows))
}

/// Says how the methods compare with the first one, user by user.
fn show_verdict(records: &[(&RunFolder, RunRecord)], dataset: &Dataset) -> anyhow::Result<()> {
    let runs = records.iter().map(|(folder, _)| FinishedRun::open(folder.path()));
    let methods = group_by_method(runs.collect::<Result<_>>()?)?;
    let options = CompareOptions { metrics: vec![MetricAt::ndcg(20)], ..CompareOptions::default() };
    let comparison = compare(&methods, dataset, &options, &mut |_| {})?;
    print(format_args!(
        "\nFull ranking on the test set, {} users. Difference from {} in NDCG@20, with the 95 % interval over users:",
        comparison.users, METHODS[0].0
    ))?;
    for ((name, _), method) in METHODS.iter().zip(&comparison.methods).skip(1) {
        print(format_args!("  {name:<8} {}", verdict(method, &comparison)))?;
    }
    Ok(print(
        "default is what 'rivalry train' does without settings: dsl-ca with a popularity prior. It and sl are shortened to\n\
         30 epochs with 200 negatives. One seed on generated data: this shows how the tool works, not which method is\n\
         best on your data.",
    )?)
}

fn verdict(method: &MethodSummary, comparison: &Comparison) -> String {
    let Some(difference) = method.differences.get(&comparison.metrics[0]) else { return String::new() };
    let [low, high] = difference.interval;
    let word = match (low > 0.0, high < 0.0) {
        (true, _) => "better",
        (_, true) => "worse",
        _ => "no clear difference",
    };
    format!("{:+.4} [{low:+.4}, {high:+.4}]: {word}", difference.mean)
}

/// Writes the report beside the runs, and says what to open and what to do next.
fn show_next(out: &Path, args: &QuickstartArgs) -> anyhow::Result<()> {
    let page = out.join("report.html");
    let report = Report::read(out, &args.common.machine.load_options(None), &mut |_, _| {})?;
    output_to(&page, true)?.write_all(report.html().as_bytes())?;
    print(format_args!("\npage    {} (open it in a browser)", page.display()))?;
    Ok(print(
        "next    rivalry auto YOUR.csv (a log with the columns user and item, and time and rating if you have them)",
    )?)
}
