//! Reads a whole Parquet file.

use std::fs::File;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};

use super::FORMAT;
use super::column::RowGroup;
use super::parallel::{self, Parsed, Reopened};
use super::table::Table;
use crate::read::columns::Columns;
use crate::read::{ReadOptions, Reading};
use crate::{Error, InputError, RawData, RawParts, Records, Result};

/// The error for a corrupt file.
pub(super) fn broken(path: &Path, error: &dyn std::fmt::Display) -> Error {
    InputError::new(format!("broken Parquet file: {error}"))
        .file(path)
        .help("it may be truncated: copy or write it again")
        .into()
}

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<RawData> {
    File::open(path).map_err(|e| Error::io("read", path, e))?;
    let reader = SerializedFileReader::new(Reopened(path.to_owned())).map_err(|e| broken(path, &e))?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let columns = Columns::find(Some(&names), names.len(), options).map_err(|e| e.file(path))?;

    let mut reading =
        Reading { format: FORMAT.name.to_owned(), ..Reading::default() }.with_columns(&columns, true);
    if !options.skip_bad_rows
        && let Some(Parsed { records, users, items }) = parallel::read((path, &reader), &columns, options)
    {
        let (parts, notes) = (RawParts::Whole(records), Vec::new());
        return Ok(RawData { users, items, parts, notes, reading: Some(reading) });
    }
    let mut table = Table::new(&columns, options);
    for index in 0..reader.num_row_groups() {
        let group = reader.get_row_group(index).map_err(|e| broken(path, &e))?;
        let group = RowGroup { path, group: &*group, start: table.rows };
        table.read_group(&group)?;
    }
    if table.user.is_empty() {
        return Err(table.no_rows().file(path).into());
    }
    reading.skipped = table.skipped;
    let Table { users, items, user, item, rating, time, .. } = table;
    let (rating, time) = (columns.rating.as_ref().map(|_| rating), columns.time.as_ref().map(|_| time));
    let parts = RawParts::Whole(Records { user, item, rating, time });
    let (users, items) = (users.finish(), items.finish());
    Ok(RawData { users, items, parts, notes: Vec::new(), reading: Some(reading) })
}
