//! Benchmark folders: `train.tsv` and `test.tsv` with dense ids, and lists of the original ids.

use std::path::Path;

use super::bundle::Bundle;
use super::columns::{Column, Columns};
use super::dense::{IdList, NumericIds, delimiter, id_map, is_number};
use super::reading::Reading;
use super::rows::Rows;
use super::source::Source;
use super::table::{Layout, read_records};
use super::train_test::has_text_ids;
use super::{Confidence, Format, ReadOptions};
use crate::memory::MemoryLimit;
use crate::prepared_checksums::PreparedChecksums;
use crate::{IdMap, InputError, RawData, RawParts, Records, Result};

pub(super) const FORMAT: Format = Format {
    name: "benchmark",
    summary: "a folder or zip with train.tsv, test.tsv, optionally valid.tsv, user_list.tsv, item_list.tsv",
    recognised_by: "train.tsv and test.tsv (or user_list.tsv) inside, with integers for ids",
    options: &[],
    streams: false,
    recognise,
    read,
};

fn recognise(source: &Source) -> Confidence {
    match source {
        Source::Bundle(bundle) if bundle.has("train.tsv") && !has_text_ids(bundle) => Confidence::Name,
        _ => Confidence::None,
    }
}

fn read(source: &Source, options: &ReadOptions) -> Result<RawData> {
    let bundle = source.bundle(FORMAT.name, "a folder or zip with train.tsv and test.tsv")?;
    let users = IdList::read(bundle, "user_list.tsv")?;
    let items = IdList::read(bundle, "item_list.tsv")?;
    let ids = || (NumericIds(users.as_ref()), NumericIds(items.as_ref()));
    let read =
        |name| if bundle.has(name) { read_set(bundle, name, ids(), options).map(Some) } else { Ok(None) };
    let (mut train, mut reading) = read_set(bundle, "train.tsv", ids(), options)?;
    let mut records = |set: Option<(Records, Reading)>| {
        let (records, other) = set?;
        reading.skipped.extend(other.skipped);
        reading.comments += other.comments;
        Some(records)
    };
    let mut valid = records(read("valid.tsv")?);
    let mut test = records(read("test.tsv")?).unwrap_or_default();
    let (mut user_columns, mut item_columns) = (Vec::new(), Vec::new());
    for records in [Some(&mut train), valid.as_mut(), Some(&mut test)].into_iter().flatten() {
        user_columns.push(&mut records.user);
        item_columns.push(&mut records.item);
    }
    let users = id_map(users, &mut user_columns);
    let items = id_map(items, &mut item_columns);
    let parts = RawParts::Given { train, valid, test };
    Ok(RawData { users, items, parts, notes: Vec::new(), reading: Some(reading) })
}

/// The users, the items and the checksums of a folder that `rivalry data prepare` wrote; `None` if it is something else.
///
/// # Errors
/// If a file is damaged or missing.
pub(crate) fn prepared_ids(
    folder: &Path,
    memory: MemoryLimit,
) -> Result<Option<(IdMap, IdMap, PreparedChecksums)>> {
    if !folder.join(PreparedChecksums::FILE).is_file() {
        return Ok(None);
    }
    let bundle = Bundle::folder(folder, memory)?;
    let Some(checksums) = bundle.checksums()? else { return Ok(None) };
    let plain = |name: &str| checksums.lists(name) && folder.join(name).is_file();
    if !["train.tsv", "user_list.tsv", "item_list.tsv"].into_iter().all(plain) {
        return Ok(None);
    }
    let [users, items] = ["user_list.tsv", "item_list.tsv"].map(|name| IdList::read(&bundle, name));
    let [users, items] = [users?, items?].map(|list| id_map(list, &mut []));
    Ok(Some((users, items, checksums)))
}

fn read_set(
    bundle: &Bundle,
    name: &str,
    (mut users, mut items): (NumericIds<'_>, NumericIds<'_>),
    options: &ReadOptions,
) -> Result<(Records, Reading)> {
    let text = bundle.text(name)?;
    let delimiter = delimiter(&text);
    let mut first = Vec::new();
    Rows::new(&text, delimiter, false).next_into(&mut first)?;
    if first.len() < 2 {
        let error = InputError::new("only one column found with the delimiters tab and space");
        return Err(error.file(&text.name).line(1).help("write `user item`, separated by a tab").into());
    }
    let header = !first.iter().any(|field| is_number(field));
    let names: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
    // Unknown column names don't matter: the format puts the user first, then the item.
    let columns = Columns::find(header.then_some(&names), names.len(), options).unwrap_or_else(|_| {
        let column = |index: usize| Column { index, name: names[index].to_owned() };
        Columns { user: column(0), item: column(1), rating: None, time: None, unused: Vec::new() }
    });
    let layout = Layout { delimiter, quotes: false, header, width: names.len(), columns };
    let table = read_records(&text, &layout, options, (&mut users, &mut items))?;
    let mut reading = layout.reading(FORMAT.name, &text);
    reading.comments += table.comments;
    reading.skipped = table.skipped;
    Ok((table.records, reading))
}
