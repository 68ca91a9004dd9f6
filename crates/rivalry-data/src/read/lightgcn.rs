//! LightGCN's adjacency lists: `user item item …` on each line.

use super::dense::{IdList, NumericIds, id_map};
use super::reading::{Reading, SkippedRows};
use super::records::DenseIds;
use super::source::{Source, Text};
use super::{Confidence, Format, ReadOptions, sniff};
use crate::{InputError, RawData, RawParts, Records, Result};

pub(super) const FORMAT: Format = Format {
    name: "lightgcn",
    summary: "adjacency lists, `user item item …` per line: one file, or a folder or zip with train.txt, test.txt",
    recognised_by: "train.txt and test.txt (or user_list.txt) inside, or lines of integers that differ in length",
    options: &[],
    streams: false,
    recognise,
    read,
};

fn recognise(source: &Source) -> Confidence {
    match source {
        Source::Bundle(bundle) if bundle.has("train.txt") => Confidence::Name,
        Source::Text(text) if sniff::adjacency(text) != sniff::Adjacency::No => Confidence::Plausible,
        _ => Confidence::None,
    }
}

fn read(source: &Source, options: &ReadOptions) -> Result<RawData> {
    if let Source::Text(text) = source {
        let mut all = read_lists(text, NumericIds(None), NumericIds(None), options)?;
        let users = id_map(None, &mut [&mut all.records.user, &mut all.idle_users]);
        let items = id_map(None, &mut [&mut all.records.item]);
        let reading = Some(Reading { skipped: all.skipped, ..text.reading(FORMAT.name) });
        return Ok(RawData { users, items, parts: RawParts::Whole(all.records), notes: Vec::new(), reading });
    }
    let bundle = source.bundle(FORMAT.name, "a text file, or a folder or zip with train.txt and test.txt")?;
    let users = IdList::read(bundle, "user_list.txt")?;
    let items = IdList::read(bundle, "item_list.txt")?;
    let train_text = bundle.text("train.txt")?;
    let lists =
        |text: &Text| read_lists(text, NumericIds(users.as_ref()), NumericIds(items.as_ref()), options);
    let mut train = lists(&train_text)?;
    let other = |name| if bundle.has(name) { lists(&bundle.text(name)?).map(Some) } else { Ok(None) };
    let mut valid = other("valid.txt")?;
    let mut test = other("test.txt")?;
    let mut reading = train_text.reading(FORMAT.name);
    let (mut user_columns, mut item_columns) = (Vec::new(), Vec::new());
    for lists in [Some(&mut train), valid.as_mut(), test.as_mut()].into_iter().flatten() {
        reading.skipped.extend(std::mem::take(&mut lists.skipped));
        user_columns.extend([&mut lists.records.user, &mut lists.idle_users]);
        item_columns.push(&mut lists.records.item);
    }
    let users = id_map(users, &mut user_columns);
    let items = id_map(items, &mut item_columns);
    let [valid, test] = [valid, test].map(|lists| lists.map(|lists| lists.records));
    let parts = RawParts::Given { train: train.records, valid, test: test.unwrap_or_default() };
    Ok(RawData { users, items, parts, notes: Vec::new(), reading: Some(reading) })
}

#[derive(Default)]
struct Lists {
    records: Records,
    /// Users whose line names no item; they keep their id.
    idle_users: Vec<u32>,
    skipped: SkippedRows,
}

impl Lists {
    /// Adds a line. A line with an invalid id adds nothing.
    fn push(
        &mut self,
        row: &str,
        users: &mut NumericIds<'_>,
        items: &mut NumericIds<'_>,
    ) -> Result<(), InputError> {
        let mut fields = row.split_ascii_whitespace();
        let Some(user) = fields.next() else { return Ok(()) };
        let user = users.dense(user).map_err(|e| e.field("user"))?;
        let before = self.records.item.len();
        for item in fields {
            match items.dense(item) {
                Ok(item) => self.records.item.push(item),
                Err(error) => {
                    self.records.item.truncate(before);
                    return Err(error.field("item"));
                }
            }
        }
        self.records.user.resize(self.records.item.len(), user);
        if self.records.item.len() == before {
            self.idle_users.push(user);
        }
        Ok(())
    }
}

fn read_lists(
    text: &Text,
    mut users: NumericIds<'_>,
    mut items: NumericIds<'_>,
    options: &ReadOptions,
) -> Result<Lists> {
    let mut lists = Lists::default();
    for (line, row) in (text.comments as u64 + 1..).zip(text.text.lines()) {
        match lists.push(row, &mut users, &mut items) {
            Err(error) if options.skip_bad_rows => lists.skipped.add(line, &error),
            pushed => pushed.map_err(|error| error.file(&text.name).line(line))?,
        }
    }
    if lists.records.user.is_empty() {
        let error = InputError::new("no user has an item").file(&text.name);
        return Err(error.help("write `user item item …` on each line").into());
    }
    Ok(lists)
}
