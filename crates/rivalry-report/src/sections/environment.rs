//! The data that the runs were trained on, and the programs and machines that trained them.

use std::collections::{BTreeMap, BTreeSet};

use rivalry::data::thousands;
use rivalry_runs::run::{DataSize, Provenance};

use crate::page::RunTable;
use crate::run::Run;
use crate::settings::NOISE;
use crate::table::{Table, TableCell, TableColumn};

/// The tables of data and machines, as far as the runs recorded them.
pub(super) fn tables(runs: &[Run]) -> impl Iterator<Item = RunTable> {
    let tables = [machines(runs), data(runs)].into_iter().filter(|table| !table.rows.is_empty());
    tables.map(|table| RunTable { table, runs: Vec::new() })
}

fn data(runs: &[Run]) -> Table {
    let sizes = runs.iter().filter_map(|run| {
        let record = run.record.as_ref()?;
        let noise = run.settings.level(NOISE);
        let noise = if noise == 0.0 { String::new() } else { format!(", noise {noise}") };
        let preparation = run.settings.preparation(record.split.as_ref()) + &noise;
        Some((record.data.clone(), record.data_size?, preparation))
    });
    let sizes: BTreeSet<(String, DataSize, String)> = sizes.collect();
    let row = |(data, size, preparation): &(String, DataSize, String)| {
        let DataSize { users, items, train, valid, test } = *size;
        let counts = [users, items, train, valid, test].map(|count| TableCell::new(thousands(count)));
        let mut cells = vec![TableCell::new(data)];
        cells.extend(counts);
        cells.push(TableCell::new(preparation));
        cells
    };
    let counts = ["users", "items", "training", "validation", "test"].map(TableColumn::number);
    let mut columns = vec![TableColumn::text("data")];
    columns.extend(counts);
    columns.push(TableColumn::text("preparation"));
    Table {
        caption: "Data: users, items, and interactions of each part.".to_owned(),
        columns,
        rows: sizes.iter().map(row).collect(),
    }
}

/// Runs that were made by the same program on the same machine.
#[derive(Default)]
struct RunsOfMachine<'r> {
    runs: usize,
    dates: BTreeSet<&'r str>,
}

fn machines(runs: &[Run]) -> Table {
    let mut machines: BTreeMap<[String; 5], RunsOfMachine<'_>> = BTreeMap::new();
    for record in runs.iter().filter_map(|run| run.record.as_ref()) {
        let Provenance { version, commit, simd, cpu, cores, threads, date, .. } = &record.provenance;
        let commit = commit.as_ref().map(|commit| format!(" ({commit})")).unwrap_or_default();
        let text = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
        let machine = [
            format!("{version}{commit}"),
            text(cpu.clone()),
            text(cores.map(|cores| cores.to_string())),
            threads.to_string(),
            simd.clone(),
        ];
        let here = machines.entry(machine).or_default();
        here.runs += 1;
        here.dates.extend(date.as_deref());
    }
    let row = |([version, cpu, cores, threads, simd], here): (&[String; 5], &RunsOfMachine<'_>)| {
        let texts = [version.clone(), dates(&here.dates), cpu.clone(), simd.clone()];
        let numbers = [cores.clone(), threads.clone(), here.runs.to_string()];
        texts.into_iter().chain(numbers).map(TableCell::new).collect()
    };
    let texts = ["Rivalry", "date (UTC)", "processor", "instructions"].map(TableColumn::text);
    let numbers = ["cores", "threads", "runs"].map(TableColumn::number);
    Table {
        caption: "Version, date and machine of the finished runs.".to_owned(),
        columns: texts.into_iter().chain(numbers).collect(),
        rows: machines.iter().map(row).collect(),
    }
}

/// The first and the last of these times, in minutes.
fn dates(dates: &BTreeSet<&str>) -> String {
    let [first, last] = [dates.first(), dates.last()].map(|date| date.map_or("–", |date| date));
    let minutes = |date: &str| date.get(..16).unwrap_or(date).replacen('T', " ", 1);
    let (first, last) = (minutes(first), minutes(last));
    match (first.split_once(' '), last.split_once(' ')) {
        _ if first == last => first,
        (Some((day, _)), Some((same, time))) if day == same => format!("{first} to {time}"),
        _ => format!("{first} to {last}"),
    }
}
