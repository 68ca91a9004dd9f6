//! `rivalry data`

use rivalry::data::read::Reading;
use rivalry::data::{
    AppliedSplit, Dataset, LoadOptions, RawData, RawParts, Split, Stats, load_raw, prepare, stats,
    write_benchmark,
};
use serde::Serialize;

use crate::args::{DataCommand, SourceArgs};
use crate::output::{print, print_json, quoted, warn_skipped};
use crate::progress::DownloadBar;
use crate::settings::resolve;
use crate::standard_input::read_if_asked;
use crate::table;

/// How many rows are shown.
const FIRST_ROWS: usize = 5;

#[derive(Serialize)]
struct Document<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reading: Option<&'a Reading>,
    first_rows: &'a [Row],
    checksum: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    split: Option<&'a AppliedSplit>,
    notes: &'a [String],
    warnings: &'a [String],
    #[serde(flatten)]
    stats: Stats,
}

/// One interaction as it was read, with its original ids.
#[derive(Serialize)]
struct Row {
    user: String,
    item: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rating: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<i64>,
}

/// A data set, and how it was read.
struct Loaded {
    dataset: Dataset,
    reading: Option<Reading>,
    first_rows: Vec<Row>,
}

pub fn run(command: &DataCommand) -> anyhow::Result<()> {
    match command {
        DataCommand::Stats { source, json } => {
            let loaded = Loaded::of(source, false)?;
            if *json {
                print_json(&loaded.document())?;
            } else {
                loaded.show()?;
            }
            warn_skipped(&loaded.dataset.skipped);
        }
        DataCommand::Prepare { source, out, force, json } => {
            let loaded = Loaded::of(source, true)?;
            let dataset = &loaded.dataset;
            write_benchmark(dataset, out, *force)?;
            if *json {
                print_json(&loaded.document())?;
            } else {
                loaded.show()?;
                print(format_args!("\nwritten to {}", out.display()))?;
                // Otherwise `train` would split a validation set off a data set that has none.
                let none = if dataset.valid.is_empty() { " --validation none" } else { "" };
                print(format_args!("train on it with: rivalry train --data {}{none}", quoted(out)))?;
            }
            warn_skipped(&loaded.dataset.skipped);
        }
    }
    Ok(())
}

impl Loaded {
    /// Loads a data set. Where no split is chosen, `split` says whether a log is split all the same.
    fn of(source: &SourceArgs, split: bool) -> rivalry::Result<Self> {
        let mut config = resolve(None, None, source.layer(), &[])?.data;
        let options = LoadOptions { data_dir: source.data_dir.clone(), ..LoadOptions::default() };
        let options = read_if_asked(&config, options)?;
        let mut bar = DownloadBar::new(false);
        let (name, raw) = load_raw(&config, &options, &mut |progress| bar.update(progress))?;
        drop(bar);
        let is_log = matches!(raw.parts, RawParts::Whole(_));
        if !split && is_log && config.prepare.split == (Split::Auto {}) {
            config.prepare.split = Split::None {};
        }
        let (reading, first_rows) = (raw.reading.clone(), first_rows(&raw));
        Ok(Self { dataset: prepare(&name, raw, &config.prepare)?, reading, first_rows })
    }

    fn document(&self) -> Document<'_> {
        let Dataset { name, checksum, notes, warnings, .. } = &self.dataset;
        let split = self.dataset.split.as_ref();
        let (reading, first_rows) = (self.reading.as_ref(), &*self.first_rows);
        Document { name, reading, first_rows, checksum, split, notes, warnings, stats: stats(&self.dataset) }
    }

    fn show(&self) -> std::io::Result<()> {
        print(format_args!("{}\n", self.dataset.name))?;
        if let Some(reading) = &self.reading {
            print(format_args!("format             {}", reading.format_summary()))?;
            if !reading.columns.is_empty() {
                print(format_args!("columns            {}", reading.column_summary()))?;
            }
            print(format_args!("\nfirst rows\n{}\n", table_of(&self.first_rows, reading)))?;
        }
        print(stats(&self.dataset))?;
        if let Some(split) = self.dataset.split.as_ref().filter(|_| !self.dataset.test.is_empty()) {
            print(format_args!("split              {split}"))?;
        }
        self.dataset.notes.iter().try_for_each(|note| print(format_args!("note               {note}")))?;
        self.dataset.warnings.iter().try_for_each(|text| print(format_args!("warning            {text}")))
    }
}

fn first_rows(raw: &RawData) -> Vec<Row> {
    let records = match &raw.parts {
        RawParts::Whole(records) | RawParts::Given { train: records, .. } => records,
    };
    let row = |n: usize| Row {
        user: raw.users.original(records.user[n]).to_owned(),
        item: raw.items.original(records.item[n]).to_owned(),
        rating: records.rating.as_ref().map(|ratings| ratings[n]).filter(|rating| !rating.is_nan()),
        time: records.time.as_ref().map(|times| times[n]),
    };
    (0..records.user.len().min(FIRST_ROWS)).map(row).collect()
}

/// The rows as a table, without columns that the source doesn't have.
fn table_of(rows: &[Row], reading: &Reading) -> String {
    let has = |role| reading.columns.iter().any(|column| column.role == role);
    let pair = |row: &Row| [row.user.clone(), row.item.clone()];
    let rating = |row: &Row| row.rating.map_or_else(String::new, |rating| rating.to_string());
    let time = |row: &Row| row.time.map_or_else(String::new, |time| time.to_string());
    let with = |row: &Row, number: String| {
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
