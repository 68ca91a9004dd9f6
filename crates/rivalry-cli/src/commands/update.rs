//! `rivalry update`

use std::path::Path;

use rivalry::data::{count, thousands};
use rivalry::train::trainer;
use rivalry_runs::run::{RunFolder, RunRecord};
use rivalry_runs::update::{NewLog, Update, UpdateOptions, UpdateRecord};
use serde::Serialize;

use super::use_machine;
use crate::args::UpdateArgs;
use crate::output::{print, print_json, quoted, say};
use crate::settings::absolute_source;
use crate::signals;
use crate::table;
use crate::training::{Trained, numbered_folder, print_model_summary, train};

#[derive(Serialize)]
struct Document<'a> {
    update: &'a UpdateRecord,
    #[serde(flatten)]
    trained: Trained<'a>,
}

pub fn run(args: &UpdateArgs) -> anyhow::Result<()> {
    use_machine(&args.common.machine)?;
    let update = Update::new(&UpdateOptions {
        run: args.run.clone(),
        logs: logs(args)?,
        epochs: args.epochs.map(|epochs| epochs as usize),
        load: args.common.machine.load_options(None),
    })?;
    let (config, dataset, record) = (update.config(), update.dataset(), update.record());
    trainer(config, args.common.machine.memory()).check(dataset)?;
    let state = update.state()?;
    let out = match &args.out {
        Some(out) => out.clone(),
        None => numbered_folder(Path::new(&format!("{}-update", args.run.display())))?,
    };
    let folder = RunFolder::create(&out, config, args.force)?;
    // Before the training, so that an interrupted update is not mistaken for a run of its own.
    folder.write_update(record)?;
    if !args.common.quiet {
        explain(record, update.dataset().train.len());
        print_model_summary(config, dataset);
    }
    signals::listen()?;
    let trained = train(&folder, dataset, config, state, &args.common)?;
    if args.common.json {
        print_json(&Document { update: record, trained: Trained { record: &trained, run: &out } })?;
        return Ok(());
    }
    show(&trained, &out, args.common.quiet)?;
    Ok(())
}

fn logs(args: &UpdateArgs) -> rivalry::Result<Vec<NewLog>> {
    let log = args.log.iter().map(|log| (log, args.read(), false));
    let feedback = args.from_feedback.iter().map(|file| (file, toml::Table::new(), true));
    log.chain(feedback)
        .map(|(source, read, feedback)| Ok(NewLog { source: absolute_source(Some(source))?, read, feedback }))
        .collect()
}

fn explain(record: &UpdateRecord, pairs: usize) {
    for log in &record.logs {
        let low = match log.low_rated {
            0 => String::new(),
            low => format!(", {} rated too low", thousands(low)),
        };
        let (rows, new) = (count(log.rows, "row"), count(log.new_pairs, "new pair"));
        say(format_args!("new     {}: {rows}, {new}{low}", log.source));
    }
    let (users, items) = (count(record.new_users, "new user"), count(record.new_items, "new item"));
    say(format_args!("        {users}, {items}; {} in all", count(pairs, "pair")));
}

fn show(record: &RunRecord, out: &Path, quiet: bool) -> std::io::Result<()> {
    let outcome = &record.outcome;
    let epochs =
        outcome.training.as_ref().map_or_else(String::new, |done| format!(", {} epochs", done.epochs));
    print(format_args!("time    training {}{epochs}", table::seconds(outcome.seconds.train)))?;
    print(format_args!("run     {}", out.display()))?;
    if !quiet {
        print(format_args!("next    rivalry recommend {} --all -n 20 -o lists.csv", quoted(out)))?;
    }
    Ok(())
}
