//! Reads a whole Parquet file.

use std::fmt::Write;
use std::fs::File;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};

use super::column::{RowGroup, Value};
use crate::read::ReadOptions;
use crate::read::columns::Columns;
use crate::read::table::DenseIds;
use crate::{Error, InputError, Interner, RawData, RawParts, Records, Result};

/// The error for a corrupt file.
pub(super) fn broken(path: &Path, error: &dyn std::fmt::Display) -> Error {
    InputError::new(format!("broken Parquet file: {error}"))
        .file(path)
        .help("it may be truncated: copy or write it again")
        .into()
}

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<RawData> {
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
            let _ = write!(text, "{number}"); // writing to a String can't fail
            ids.dense(&text)
        }
    };
    for index in 0..reader.num_row_groups() {
        let group = reader.get_row_group(index).map_err(|e| broken(path, &e))?;
        let group = RowGroup { path, group: &*group, start: user.len() };
        group.read(&columns.user, &mut user, |value| intern(&mut users, value))?;
        group.read(&columns.item, &mut item, |value| intern(&mut items, value))?;
        if let Some(column) = &columns.rating {
            group.read(column, &mut rating, |value| value.rating())?;
        }
        if let Some(column) = &columns.time {
            group.read(column, &mut time, |value| value.time())?;
        }
        let complete = |column: &Option<_>, len| column.is_none() || len == user.len();
        if item.len() != user.len()
            || !complete(&columns.rating, rating.len())
            || !complete(&columns.time, time.len())
        {
            return Err(broken(path, &"its columns differ in length"));
        }
    }
    if user.is_empty() {
        let error = InputError::new("the file has no rows").file(path);
        return Err(error.help("give a file with interactions").into());
    }
    let (rating, time) = (columns.rating.map(|_| rating), columns.time.map(|_| time));
    let parts = RawParts::Whole(Records { user, item, rating, time });
    Ok(RawData { users: users.finish(), items: items.finish(), parts, notes: Vec::new() })
}
