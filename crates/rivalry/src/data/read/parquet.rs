//! Parquet files with flat columns.

use std::fmt::Write;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};

use super::columns::Columns;
use super::parquet_column::{Group, Value};
use super::source::{Source, unfit};
use super::table::Ids;
use super::{Claim, Format, ReadOptions};
use crate::data::{Interner, Parts, RawData, Records};
use crate::{Error, InputError, Result};

pub(super) const FORMAT: Format = Format {
    name: "parquet",
    summary: "Parquet with flat columns of numbers or text, by name or number",
    recognised_by: "the ending .parquet, or its first four bytes",
    options: &["user", "item", "rating", "time"],
    claim,
    read,
};

fn claim(source: &Source) -> Claim {
    if matches!(source, Source::Parquet(_)) { Claim::Named } else { Claim::No }
}

fn read(source: &Source, options: &ReadOptions) -> Result<RawData> {
    let path = match source {
        Source::Parquet(path) => path,
        Source::Text(text) => return Err(unfit(&text.name, FORMAT.name, "a Parquet file", "text")),
        Source::Bundle(bundle) => {
            return Err(unfit(&bundle.name, FORMAT.name, "a Parquet file", "several files"));
        }
    };
    // The decoders are not ours: should a broken file trip one, it is still the file that is at fault.
    catch_unwind(AssertUnwindSafe(|| read_file(path, options)))
        .unwrap_or_else(|_| Err(broken(path, &"its pages contradict each other")))
}

/// The error for a file whose own parts don't fit together.
pub(super) fn broken(path: &Path, error: &dyn std::fmt::Display) -> Error {
    InputError::new(format!("broken Parquet file: {error}"))
        .file(path)
        .help("it may have been cut short: copy or write it again")
        .into()
}

fn read_file(path: &Path, options: &ReadOptions) -> Result<RawData> {
    let file = File::open(path).map_err(|e| Error::io("read", path, e))?;
    let reader = SerializedFileReader::new(file).map_err(|e| broken(path, &e))?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let columns = Columns::find(Some(&names), names.len(), options).map_err(|e| e.file(path))?;

    let (mut users, mut items) = (Interner::default(), Interner::default());
    let (mut user, mut item, mut rating, mut time) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut text = String::new();
    let mut intern = |ids: &mut Interner, value: Value<'_>| match value {
        Value::Text(id) => ids.dense(id.trim_ascii()),
        number => {
            text.clear();
            let _ = write!(text, "{number}"); // into memory: can't fail
            ids.dense(&text)
        }
    };
    for number in 0..reader.num_row_groups() {
        let group = reader.get_row_group(number).map_err(|e| broken(path, &e))?;
        let group = Group { path, group: &*group, start: user.len() };
        group.read(&columns.user, &mut user, |value| intern(&mut users, value))?;
        group.read(&columns.item, &mut item, |value| intern(&mut items, value))?;
        if let Some(column) = &columns.rating {
            group.read(column, &mut rating, |value| value.rating())?;
        }
        if let Some(column) = &columns.time {
            group.read(column, &mut time, |value| value.time())?;
        }
        let whole = |column: &Option<_>, len| column.is_none() || len == user.len();
        if item.len() != user.len()
            || !whole(&columns.rating, rating.len())
            || !whole(&columns.time, time.len())
        {
            return Err(broken(path, &"its columns differ in length"));
        }
    }
    if user.is_empty() {
        let fault = InputError::new("there is no row inside").file(path);
        return Err(fault.help("give a file with interactions").into());
    }
    let (rating, time) = (columns.rating.map(|_| rating), columns.time.map(|_| time));
    let parts = Parts::Whole(Records { user, item, rating, time });
    Ok(RawData { users: users.finish(), items: items.finish(), parts, notes: Vec::new() })
}
