//! `rivalry data`

use rivalry::data::read::Reading;
use rivalry::data::{
    AppliedSplit, DataConfig, LoadOptions, Prepared, RawParts, RawRow, Split, Stats, load_raw, prepare,
    prepare_folder,
};
use rivalry::memory::MemoryLimit;
use serde::Serialize;

use crate::args::{DataCommand, SourceArgs};
use crate::output::{print, print_json, quoted, warn_skipped};
use crate::prepare_bar::PrepareBar;
use crate::progress::DownloadBar;
use crate::settings::resolve;
use crate::standard_input::read_if_asked;
use crate::table;

/// How many rows are shown.
const FIRST_ROWS: usize = 5;

/// How many columns that are not used are named.
const FIRST_NAMES: usize = 12;

#[derive(Serialize)]
struct Document<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reading: Option<&'a Reading>,
    first_rows: &'a [RawRow],
    checksum: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    split: Option<&'a AppliedSplit>,
    notes: &'a [String],
    warnings: &'a [String],
    #[serde(flatten)]
    stats: &'a Stats,
}

pub fn run(command: &DataCommand) -> anyhow::Result<()> {
    match command {
        DataCommand::Stats { source, json } => {
            let prepared = loaded(source)?;
            if *json {
                print_json(&document(&prepared))?;
            } else {
                show(&prepared)?;
            }
            warn_skipped(&prepared.skipped);
        }
        DataCommand::Prepare { source, out, force, max_memory, json } => {
            let memory = max_memory.map_or_else(MemoryLimit::default, MemoryLimit::bytes);
            let (config, options) = source_of(source, memory)?;
            let mut bar = PrepareBar::new();
            let prepared =
                prepare_folder(&config, &options, (out, *force), &mut |progress| bar.update(progress))?;
            drop(bar);
            if *json {
                print_json(&document(&prepared))?;
            } else {
                show(&prepared)?;
                print(format_args!("\nwritten to {}", out.display()))?;
                // Otherwise `train` would split a validation set off a data set that has none.
                let none = if prepared.stats.valid == 0 { " --validation none" } else { "" };
                print(format_args!("train on it with: rivalry train --data {}{none}", quoted(out)))?;
            }
            warn_skipped(&prepared.skipped);
        }
    }
    Ok(())
}

/// What to load, and within which limits.
fn source_of(source: &SourceArgs, memory: MemoryLimit) -> rivalry::Result<(DataConfig, LoadOptions)> {
    let config = resolve(None, None, source.layer(), &[])?.data;
    let options = LoadOptions { data_dir: source.data_dir.clone(), memory, ..LoadOptions::default() };
    let options = read_if_asked(&config, options)?;
    Ok((config, options))
}

/// Loads a data set. A log is split only if a split is asked for.
fn loaded(source: &SourceArgs) -> rivalry::Result<Prepared> {
    let (mut config, options) = source_of(source, MemoryLimit::default())?;
    let mut bar = DownloadBar::new(false);
    let (name, raw) = load_raw(&config, &options, &mut |progress| bar.update(progress))?;
    drop(bar);
    let is_log = matches!(raw.parts, RawParts::Whole(_));
    if is_log && config.prepare.split == (Split::Auto {}) {
        config.prepare.split = Split::None {};
    }
    let (reading, first_rows) = (raw.reading.clone(), raw.first_rows(FIRST_ROWS));
    Ok(Prepared::of(prepare(&name, raw, &config.prepare)?, reading, first_rows))
}

fn document(prepared: &Prepared) -> Document<'_> {
    let Prepared { name, first_rows, stats, checksum, notes, warnings, .. } = prepared;
    let (reading, split) = (prepared.reading.as_ref(), prepared.split.as_ref());
    Document { name, reading, first_rows, checksum, split, notes, warnings, stats }
}

fn show(prepared: &Prepared) -> std::io::Result<()> {
    print(format_args!("{}\n", prepared.name))?;
    if let Some(reading) = &prepared.reading {
        print(format_args!("format             {}", reading.format_summary()))?;
        if !reading.columns.is_empty() {
            print(format_args!("columns            {}", reading.column_summary()))?;
        }
        if !reading.unused_columns.is_empty() {
            print(format_args!("not used           {}", first_names(&reading.unused_columns)))?;
        }
        print(format_args!("\nfirst rows\n{}\n", table_of(&prepared.first_rows, reading)))?;
    }
    print(&prepared.stats)?;
    if let Some(split) = prepared.split.as_ref().filter(|_| prepared.stats.test > 0) {
        print(format_args!("split              {split}"))?;
    }
    prepared.notes.iter().try_for_each(|note| print(format_args!("note               {note}")))?;
    prepared.warnings.iter().try_for_each(|text| print(format_args!("warning            {text}")))
}

/// The first names of many.
fn first_names(names: &[String]) -> String {
    let (first, others) = names.split_at(names.len().min(FIRST_NAMES));
    let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    format!("{}{more}", first.join(", "))
}

/// The rows as a table, without columns that the source doesn't have.
fn table_of(rows: &[RawRow], reading: &Reading) -> String {
    let has = |role| reading.columns.iter().any(|column| column.role == role);
    let pair = |row: &RawRow| [row.user.clone(), row.item.clone()];
    let rating = |row: &RawRow| row.rating.map_or_else(String::new, |rating| rating.to_string());
    let time = |row: &RawRow| row.time.map_or_else(String::new, |time| time.to_string());
    let with = |row: &RawRow, number: String| {
        let [user, item] = pair(row);
        [user, item, number]
    };
    match (has("rating"), has("time")) {
        (false, false) => table::table(["user", "item"], 2, rows.iter().map(pair)),
        (true, false) => {
            table::table(["user", "item", "rating"], 2, rows.iter().map(|row| with(row, rating(row))))
        }
        (false, true) => {
            table::table(["user", "item", "time"], 2, rows.iter().map(|row| with(row, time(row))))
        }
        (true, true) => {
            let cells = rows.iter().map(|row| {
                let [user, item] = pair(row);
                [user, item, rating(row), time(row)]
            });
            table::table(["user", "item", "rating", "time"], 2, cells)
        }
    }
}
