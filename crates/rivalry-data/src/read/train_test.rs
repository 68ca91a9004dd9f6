//! Folders with a table for each set: `train.csv`, `test.csv` and perhaps `valid.csv`, with ids of any kind.

use super::bundle::Bundle;
use super::dense;
use super::reading::Reading;
use super::source::{Source, Text};
use super::{Confidence, Format, ReadOptions, csv};
use crate::{IdMap, InputError, Interner, RawData, RawParts, Records, Result};

pub(super) const FORMAT: Format = Format {
    name: "train-test",
    summary: "a folder or zip with train.csv, test.csv, optionally valid.csv (or .tsv); ids are text or numbers",
    recognised_by: "train.csv and test.csv inside, or train.tsv and test.tsv with ids that are no integers",
    options: csv::FORMAT.options,
    streams: false,
    recognise,
    read,
};

fn recognise(source: &Source) -> Confidence {
    match source {
        Source::Bundle(bundle) if bundle.has("train.csv") || has_text_ids(bundle) => Confidence::Name,
        // With options that the benchmark format doesn't have.
        Source::Bundle(bundle) if bundle.has("train.tsv") => Confidence::Plausible,
        _ => Confidence::None,
    }
}

/// Whether `train.tsv` is a table with ids that the benchmark format doesn't know: no integers, and no lists of them.
pub(super) fn has_text_ids(bundle: &Bundle) -> bool {
    let listed = bundle.has("user_list.tsv") || bundle.has("item_list.tsv");
    !listed && bundle.text("train.tsv").is_ok_and(|text| dense::has_text_ids(&text))
}

fn read(source: &Source, options: &ReadOptions) -> Result<RawData> {
    let bundle = source.bundle(FORMAT.name, "a folder or zip with train.csv and test.csv")?;
    let extension = if bundle.has("train.csv") { "csv" } else { "tsv" };
    let mut sets = Sets::default();
    let mut read = |set: &str| sets.read(&bundle.text(&format!("{set}.{extension}"))?, options);
    let train = read("train")?;
    let valid = bundle.has(&format!("valid.{extension}")).then(|| read("valid")).transpose()?;
    let test = read("test")?;
    let parts = RawParts::Given { train, valid, test };
    let Sets { users, items, notes, reading } = sets;
    Ok(RawData { users: users.finish(), items: items.finish(), parts, notes, reading })
}

/// What the sets share.
#[derive(Default)]
struct Sets {
    users: Interner,
    items: Interner,
    notes: Vec<String>,
    /// How the training set was read, and what was left out of all sets.
    reading: Option<Reading>,
}

impl Sets {
    /// The records of a table, with the numbers that its ids have in all sets.
    fn read(&mut self, text: &Text, options: &ReadOptions) -> Result<Records> {
        let RawData { users, items, parts, notes, reading } = csv::read_table(text, options)?;
        let RawParts::Whole(mut records) = parts else { unreachable!("a table is one set") };
        renumber(&mut records.user, &users, &mut self.users)?;
        renumber(&mut records.item, &items, &mut self.items)?;
        self.notes.extend(notes);
        let reading = reading.unwrap_or_default();
        match &mut self.reading {
            Some(first) if first.header != reading.header => {
                let which = |header| if header == Some(true) { "has a header" } else { "has no header" };
                let message =
                    format!("it {}, but the training set {}", which(reading.header), which(first.header));
                let help = "write the same header into all files, or set `data.read.header`";
                return Err(InputError::new(message).file(&text.name).help(help).into());
            }
            Some(first) => {
                first.comments += reading.comments;
                first.skipped.extend(reading.skipped);
            }
            None => self.reading = Some(Reading { format: FORMAT.name.to_owned(), ..reading }),
        }
        Ok(records)
    }
}

fn renumber(column: &mut [u32], ids: &IdMap, shared: &mut Interner) -> Result<()> {
    let numbers: Vec<u32> = ids.iter().map(|id| shared.intern(id)).collect::<Result<_, _>>()?;
    column.iter_mut().for_each(|id| *id = numbers[*id as usize]);
    Ok(())
}
