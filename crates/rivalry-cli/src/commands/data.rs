//! `rivalry data`

use rivalry::data::{Dataset, LoadOptions, Stats, stats, write_benchmark};
use serde::Serialize;

use super::load;
use crate::args::{DataCommand, SourceArgs};
use crate::output::{print, print_json, quoted};
use crate::settings::resolve;

#[derive(Serialize)]
struct Document<'a> {
    name: &'a str,
    checksum: &'a str,
    notes: &'a [String],
    #[serde(flatten)]
    stats: Stats,
}

impl<'a> Document<'a> {
    fn of(dataset: &'a Dataset) -> Self {
        let Dataset { name, checksum, notes, .. } = dataset;
        Self { name, checksum, notes, stats: stats(dataset) }
    }

    fn show(&self) -> std::io::Result<()> {
        print(format_args!("{}\n\n{}", self.name, self.stats))?;
        self.notes.iter().try_for_each(|note| print(format_args!("note               {note}")))
    }
}

pub fn run(command: &DataCommand) -> anyhow::Result<()> {
    match command {
        DataCommand::Stats { source, json } => {
            let dataset = dataset(source)?;
            let document = Document::of(&dataset);
            if *json { print_json(&document)? } else { document.show()? }
        }
        DataCommand::Prepare { source, out, force, json } => {
            let dataset = dataset(source)?;
            write_benchmark(&dataset, out, *force)?;
            let document = Document::of(&dataset);
            if *json {
                print_json(&document)?;
            } else {
                document.show()?;
                print(format_args!("\nwritten to {}", out.display()))?;
                // Otherwise `train` would split a validation set off a data set that has none.
                let none = if dataset.valid.is_empty() { " --validation none" } else { "" };
                print(format_args!("train on it with: rivalry train --data {}{none}", quoted(out)))?;
            }
        }
    }
    Ok(())
}

fn dataset(source: &SourceArgs) -> rivalry::Result<Dataset> {
    load(
        &resolve(None, None, source.layer(), &[])?,
        &LoadOptions { data_dir: source.data_dir.clone(), ..LoadOptions::default() },
        false,
    )
}
