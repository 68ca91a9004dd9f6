//! JSON lines: one object per line, one interaction each.

use std::borrow::Cow;

use super::columns::{Column, Columns};
use super::json_row::{Cell, Keys, Wanted, cells, keys};
use super::records::{RecordBuilder, Row};
use super::source::{Source, Text};
use super::{Confidence, Format, ReadOptions, sniff};
use crate::{InputError, Interner, RawData, RawParts, Result};

pub(super) const FORMAT: Format = Format {
    name: "jsonl",
    summary: "JSON lines: one object per line, fields by name",
    recognised_by: "a first line that is a JSON object",
    options: &["user", "item", "rating", "time"],
    streams: false,
    recognise,
    read,
};

/// In how many lines the names of the fields are looked for.
const SAMPLE: usize = 200;

fn recognise(source: &Source) -> Confidence {
    match source {
        Source::Text(text) if sniff::json(text) => Confidence::Name,
        _ => Confidence::None,
    }
}

fn read(source: &Source, options: &ReadOptions) -> Result<RawData> {
    let text = source.text(FORMAT.name)?;
    if text.text.trim_ascii_start().starts_with('[') {
        let error = InputError::new("this is one JSON array, and JSON lines are one object per line");
        return Err(error.file(&text.name).help("convert it: jq -c '.[]' FILE > NEW.jsonl").into());
    }
    let names = names(text)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let columns =
        Columns::find(Some(&names), names.len(), options).map_err(|error| error.file(&text.name))?;
    let wanted = Wanted([
        Some(&*columns.user.name),
        Some(&*columns.item.name),
        columns.rating.as_ref().map(|column| &*column.name),
        columns.time.as_ref().map(|column| &*column.name),
    ]);
    let (mut users, mut items) = (Interner::default(), Interner::default());
    let mut builder = RecordBuilder::new(&mut users, &mut items, &columns, options);
    for (number, line) in lines(text) {
        let pushed =
            cells(line, wanted).map_err(|e| not_an_object(&e)).and_then(|[user, item, rating, time]| {
                let required = |cell: &'_ Cell<'_>, column: &Column| {
                    cell.text().map_err(|e| e.field(&column.name)).map(Cow::into_owned)
                };
                let optional = |cell: &Cell<'_>, column: &Option<Column>| match column {
                    Some(column) => required(cell, column),
                    None => Ok(String::new()),
                };
                let (user, item) = (required(&user, &columns.user)?, required(&item, &columns.item)?);
                let (rating, time) = (optional(&rating, &columns.rating)?, optional(&time, &columns.time)?);
                builder.push(Row { user: &user, item: &item, rating: &rating, time: &time })
            });
        if let Err(error) = pushed {
            builder.skip(number, error).map_err(|error| error.file(&text.name).line(number))?;
        }
    }
    let (records, skipped) = builder.finish().map_err(|error| error.file(&text.name))?;
    let mut reading = text.reading(FORMAT.name).with_columns(&columns, true);
    reading.skipped = skipped;
    let (users, items) = (users.finish(), items.finish());
    Ok(RawData { users, items, parts: RawParts::Whole(records), notes: Vec::new(), reading: Some(reading) })
}

/// The lines that are not empty, with their numbers.
fn lines(text: &Text) -> impl Iterator<Item = (u64, &str)> {
    let first = text.comments as u64 + 1;
    (first..).zip(text.text.lines()).filter(|(_, line)| !line.trim_ascii().is_empty())
}

/// The names of the fields, in order of appearance.
fn names(text: &Text) -> Result<Vec<String>> {
    let mut names = Keys::default();
    let mut fault = None;
    for (number, line) in lines(text).take(SAMPLE) {
        if let Err(error) = keys(line, &mut names) {
            fault.get_or_insert(not_an_object(&error).file(&text.name).line(number));
        }
    }
    match fault {
        Some(fault) if names.0.is_empty() => Err(fault.into()),
        _ => Ok(names.0),
    }
}

fn not_an_object(fault: &serde_json::Error) -> InputError {
    // The position within the line is of no use once the line is named.
    let fault = fault.to_string();
    let fault = fault.split(" at line ").next().unwrap_or_default();
    InputError::new(format!("not a JSON object: {fault}"))
        .help("write one object per line, for example: jq -c . FILE > NEW.jsonl")
}
