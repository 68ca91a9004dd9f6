//! LightGCN's adjacency lists: `user item item …` on each line.

use super::dense::{IdList, NumericIds, id_map};
use super::source::{Source, Text};
use super::table::DenseIds;
use super::{Confidence, Format, ReadOptions, sniff};
use crate::{InputError, RawData, RawParts, Records, Result};

pub(super) const FORMAT: Format = Format {
    name: "lightgcn",
    summary: "adjacency lists, `user item item …` per line: one file, or a folder or zip with train.txt, test.txt",
    recognised_by: "train.txt and test.txt inside, or lines of integers that differ in length",
    options: &[],
    recognise,
    read,
};

fn recognise(source: &Source) -> Confidence {
    match source {
        Source::Bundle(bundle) if bundle.has("train.txt") && bundle.has("test.txt") => Confidence::Name,
        Source::Text(text) if sniff::adjacency(text) != sniff::Adjacency::No => Confidence::Plausible,
        _ => Confidence::None,
    }
}

fn read(source: &Source, _: &ReadOptions) -> Result<RawData> {
    if let Source::Text(text) = source {
        let mut all = read_lists(text, NumericIds(None), NumericIds(None))?;
        let users = id_map(None, &mut [&mut all.records.user, &mut all.idle_users]);
        let items = id_map(None, &mut [&mut all.records.item]);
        return Ok(RawData { users, items, parts: RawParts::Whole(all.records), notes: Vec::new() });
    }
    let bundle = source.bundle(FORMAT.name, "a text file, or a folder or zip with train.txt and test.txt")?;
    let users = IdList::read(bundle, "user_list.txt")?;
    let items = IdList::read(bundle, "item_list.txt")?;
    let part = |name| read_lists(&bundle.text(name)?, NumericIds(users.as_ref()), NumericIds(items.as_ref()));
    let mut train = part("train.txt")?;
    let mut valid = if bundle.has("valid.txt") { Some(part("valid.txt")?) } else { None };
    let mut test = part("test.txt")?;
    let (mut user_columns, mut item_columns) = (Vec::new(), Vec::new());
    for lists in [Some(&mut train), valid.as_mut(), Some(&mut test)].into_iter().flatten() {
        user_columns.extend([&mut lists.records.user, &mut lists.idle_users]);
        item_columns.push(&mut lists.records.item);
    }
    let users = id_map(users, &mut user_columns);
    let items = id_map(items, &mut item_columns);
    let parts =
        RawParts::Given { train: train.records, valid: valid.map(|lists| lists.records), test: test.records };
    Ok(RawData { users, items, parts, notes: Vec::new() })
}

#[derive(Default)]
struct Lists {
    records: Records,
    /// Users whose line names no item; they keep their id.
    idle_users: Vec<u32>,
}

fn read_lists(text: &Text, mut users: NumericIds<'_>, mut items: NumericIds<'_>) -> Result<Lists> {
    let mut lists = Lists::default();
    for (line, row) in (1..).zip(text.text.lines()) {
        let at = |field: &str, error: InputError| error.file(&text.name).line(line).field(field);
        let mut fields = row.split_ascii_whitespace();
        let Some(user) = fields.next() else { continue };
        let user = users.dense(user).map_err(|e| at("user", e))?;
        let before = lists.records.item.len();
        for item in fields {
            lists.records.item.push(items.dense(item).map_err(|e| at("item", e))?);
        }
        lists.records.user.resize(lists.records.item.len(), user);
        if lists.records.item.len() == before {
            lists.idle_users.push(user);
        }
    }
    if lists.records.user.is_empty() {
        let error = InputError::new("no user has an item").file(&text.name);
        return Err(error.help("write `user item item …` on each line").into());
    }
    Ok(lists)
}
