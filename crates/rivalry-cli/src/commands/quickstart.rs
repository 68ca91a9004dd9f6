//! `rivalry quickstart`

use rivalry::eval::MetricAt;
use std::path::Path;

use rivalry::data::Dataset;
use rivalry_runs::run::{RunFolder, RunRecord};
use serde_json::json;

use super::{load, use_machine};
use crate::args::QuickstartArgs;
use crate::output::{print, print_json, quoted};
use crate::settings::resolve;
use crate::signals;
use crate::table;
use crate::training::{Trained, numbered_folder, print_data_summary, print_model_summary, train};

/// The losses to compare. The temperature of each was tuned on the validation set.
const LOSSES: [(&str, &str); 2] = [("sl", "loss.tau=0.2"), ("dsl", "loss.tau=0.25")];

/// The settings of both runs.
const SETTINGS: &str = "
    data.source = 'synthetic'
    optim.lr = 0.1
    train.epochs = 30
    train.negatives = 200
";

pub fn run(args: &QuickstartArgs) -> anyhow::Result<()> {
    use_machine(&args.common.machine)?;
    let mut configs = Vec::new();
    for (loss, setting) in LOSSES {
        let common = SETTINGS.parse().expect("the settings are TOML");
        configs.push(resolve(None, None, common, &[format!("loss.type={loss}"), setting.to_owned()])?);
    }
    let dataset = load(&configs[0], &args.common.machine.load_options(None), args.common.quiet)?;
    let out = match &args.out {
        Some(out) => out.clone(),
        None => numbered_folder(Path::new("runs/quickstart"))?,
    };
    // All folders are checked before the first training.
    for (loss, _) in LOSSES {
        RunFolder::check_free(&out.join(loss), args.force)?;
    }
    let folders = LOSSES.iter().zip(&configs);
    let folders = folders.map(|((loss, _), config)| RunFolder::create(&out.join(loss), config, args.force));
    let folders: Vec<RunFolder> = folders.collect::<Result<_, _>>()?;
    if !args.common.quiet {
        print_data_summary(&dataset);
    }
    signals::listen()?;
    let mut records = Vec::new();
    for (folder, config) in folders.iter().zip(&configs) {
        if !args.common.quiet {
            print_model_summary(config, &dataset);
        }
        records.push(train(folder, &dataset, config, None, &args.common)?);
    }
    let records: Vec<(&RunFolder, RunRecord)> = folders.iter().zip(records).collect();
    if args.common.json {
        let runs = records.iter().map(|(folder, record)| Trained { record, run: folder.path() });
        let document = LOSSES.iter().zip(runs).map(|((loss, _), run)| ((*loss).to_owned(), json!(run)));
        print_json(&document.collect::<serde_json::Map<_, _>>())?;
        return Ok(());
    }
    show(&records, &dataset, args.common.quiet)?;
    Ok(())
}

fn show(records: &[(&RunFolder, RunRecord)], dataset: &Dataset, quiet: bool) -> std::io::Result<()> {
    let rows = LOSSES.iter().zip(records).map(|((loss, _), (folder, record))| {
        let outcome = &record.outcome;
        let metric = |metric: MetricAt| {
            outcome.test.get(&metric).map_or_else(String::new, |value| format!("{value:.4}"))
        };
        let time = table::seconds(outcome.seconds.train + outcome.seconds.eval);
        [
            (*loss).to_owned(),
            folder.path().display().to_string(),
            metric(MetricAt::recall(20)),
            metric(MetricAt::ndcg(20)),
            time,
        ]
    });
    print(table::table(["loss", "run", "Recall@20", "NDCG@20", "time"], 2, rows))?;
    if quiet {
        return Ok(());
    }
    let (dsl, _) = &records[records.len() - 1];
    let run = quoted(dsl.path());
    print(
        "\nFull ranking on the test set. The data are synthetic: they show how the tool works, not which loss is",
    )?;
    print("better on your data.")?;
    let both = quoted(dsl.path().parent().unwrap_or(dsl.path()));
    print(format_args!("\nnext    rivalry compare {both} --baseline sl"))?;
    print(format_args!("        rivalry inspect {run}"))?;
    print(format_args!("        rivalry recommend {run} --user {}", dataset.users.original(0)))?;
    print(format_args!("        rivalry similar {run} --item {}", dataset.items.original(0)))?;
    print(
        "        rivalry train --data YOUR.csv --loss dsl    (columns: user, item, and rating and time if you have them)",
    )
}
