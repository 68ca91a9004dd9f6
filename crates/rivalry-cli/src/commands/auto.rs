//! `rivalry auto`

use std::io::Write;
use std::path::{Path, PathBuf};

use rivalry::InputError;
use rivalry::data::{STANDARD_INPUT, thousands};
use rivalry::files::write_atomically;
use rivalry_report::auto_page;
use rivalry_runs::auto::{Auto, AutoOptions, AutoRecord, ModelResult, PAGE, Understood};
use rivalry_runs::settings::in_few_words;
use serde::Serialize;

use super::use_machine;
use crate::args::AutoArgs;
use crate::auto_display::AutoDisplay;
use crate::output::{print, print_json, quoted, say};
use crate::settings::absolute_source;
use crate::signals::{self, SweepInterrupted};
use crate::table;
use crate::training::plain_name;

#[derive(Serialize)]
struct Document<'a> {
    folder: &'a Path,
    #[serde(flatten)]
    record: &'a AutoRecord,
}

pub fn run(args: &AutoArgs) -> anyhow::Result<()> {
    use_machine(&args.common.machine)?;
    if args.source == STANDARD_INPUT {
        let error = InputError::new("the search can't read standard input: it goes on from the log later");
        let error = error.field("LOG").help("save the log to a file, and give its path");
        return Err(rivalry::Error::from(error).into());
    }
    let auto = Auto::new(AutoOptions {
        settings: args.layer(absolute_source(Some(&args.source))?),
        metric: args.metric,
        minutes: args.minutes,
        threads: rayon::current_num_threads(),
        load: args.common.machine.load_options(args.data_dir.as_deref()),
    })?;
    let name = plain_name(&auto.understood().data);
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("runs/auto-{name}")));
    if !args.common.quiet {
        explain(auto.understood());
        say(format_args!(
            "search  {} minutes, decided by {} on validation, in {}",
            args.minutes,
            auto.metric(),
            out.display()
        ));
    }
    signals::listen()?;
    let display = AutoDisplay::new(args.common.quiet, auto.metric(), args.minutes);
    let found = auto.run(&out, &display)?;
    drop(display);
    let Some(record) = found else { return Err(SweepInterrupted { folder: out }.into()) };
    let page = auto_page(&record, &out)?;
    write_atomically(&out.join(PAGE), |file| file.write_all(page.as_bytes()))?;
    if args.common.json {
        print_json(&Document { folder: &out, record: &record })?;
    } else {
        show(&record, &out, args.common.quiet)?;
    }
    Ok(())
}

/// Says what was understood of the log.
fn explain(understood: &Understood) {
    let Understood { data, columns, ratings, times, split, notes, size } = understood;
    let [users, items, train, valid, test] =
        [size.users, size.items, size.train, size.valid, size.test].map(thousands);
    say(format_args!("data    {data}: {users} users, {items} items"));
    if !columns.is_empty() {
        say(format_args!("        {columns}"));
    }
    say(format_args!("        ratings: {ratings}"));
    say(format_args!("        times: {times}"));
    say(format_args!("split   {split}"));
    say(format_args!("        {train} training, {valid} validation, {test} test pairs"));
    notes.iter().for_each(|note| say(format_args!("note    {note}")));
}

fn show(record: &AutoRecord, out: &Path, quiet: bool) -> std::io::Result<()> {
    let metric = record.metric;
    let row = |model: &ModelResult| {
        let compared = record.comparison.methods.iter().find(|method| method.name == model.name);
        let difference = compared.and_then(|method| method.differences.get(&metric));
        [
            model.name.clone(),
            in_few_words(&model.settings),
            model.tried.to_string(),
            table::seconds(model.seconds),
            format!("{:.4}", model.valid),
            difference.map_or_else(String::new, |found| {
                format!("{:+.4} [{:+.4}, {:+.4}]", found.mean, found.interval[0], found.interval[1])
            }),
        ]
    };
    let header = ["model", "settings", "tried", "training", "validation", "test, from the winner"];
    print(table::table(header, 2, record.models.iter().map(row)))?;
    for skipped in &record.skipped {
        print(format_args!("not tried: {} ({})", skipped.model, skipped.reason))?;
    }
    let [winner, ..] = &record.models[..] else { return Ok(()) };
    let test = &record.test;
    let [low, high] = test.interval;
    print(format_args!(
        "\nwinner  {}: test {metric} {:.4}, {:.0} % interval {low:.4} to {high:.4}, {} users",
        winner.name,
        test.mean,
        100.0 * test.confidence,
        thousands(test.users)
    ))?;
    if record.models.len() == 1 && winner.name == "popularity" {
        print("        the budget was enough for popularity alone: give more --minutes")?;
    }
    let run = &record.run;
    let epochs = run.epochs.map_or_else(String::new, |epochs| format!(" for {epochs} epochs"));
    print(format_args!(
        "        trained on all {} pairs{epochs}, {}",
        thousands(run.pairs),
        table::seconds(run.seconds)
    ))?;
    let spent = table::seconds(record.seconds);
    if record.interrupted {
        print(format_args!("time    {spent} of {} minutes; the same command goes on", record.minutes))?;
    } else {
        print(format_args!("time    {spent} for {} trials", record.trials))?;
    }
    let best = out.join(&run.path);
    print(format_args!("run     {}", best.display()))?;
    print(format_args!("page    {}", out.join(PAGE).display()))?;
    if !quiet {
        let best = quoted(&best);
        print(format_args!("next    rivalry recommend {best} --all -n 20 -o lists.csv"))?;
        print(format_args!("        rivalry serve {best}"))?;
        print(format_args!("        rivalry compare {}", quoted(&out.join("models"))))?;
    }
    Ok(())
}
