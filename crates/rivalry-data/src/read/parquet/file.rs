//! Reads a whole Parquet file.

use std::fs::File;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};

use super::FORMAT;
use super::column::RowGroup;
use super::parallel::{Batches, Groups, Reopened};
use super::table::{Table, no_rows};
use crate::read::columns::Columns;
use crate::read::{ReadOptions, Reading};
use crate::{Error, IdMap, InputError, RawData, RawParts, Records, Result};

/// The error for a corrupt file.
pub(super) fn broken(path: &Path, error: &dyn std::fmt::Display) -> Error {
    InputError::new(format!("broken Parquet file: {error}"))
        .file(path)
        .help("it may be truncated: copy or write it again")
        .into()
}

/// Opens a file and reads its metadata.
pub(super) fn open(path: &Path) -> Result<SerializedFileReader<Reopened>> {
    File::open(path).map_err(|e| Error::io("read", path, e))?;
    SerializedFileReader::new(Reopened(path.to_owned())).map_err(|e| broken(path, &e))
}

/// The names of all columns, and those to read.
pub(super) fn columns_of(
    path: &Path,
    reader: &SerializedFileReader<Reopened>,
    options: &ReadOptions,
) -> Result<(Vec<String>, Columns)> {
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
    let header: Vec<&str> = names.iter().map(String::as_str).collect();
    let columns = Columns::find(Some(&header), names.len(), options).map_err(|e| e.file(path))?;
    Ok((names, columns))
}

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<RawData> {
    let reader = open(path)?;
    let (_, columns) = columns_of(path, &reader, options)?;
    let mut reading =
        Reading { format: FORMAT.name.to_owned(), ..Reading::default() }.with_columns(&columns, true);
    if !options.skip_bad_rows
        && let Some((records, users, items)) = read_parallel(path, &reader, &columns, options)
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
        return Err(no_rows(&table.skipped).file(path).into());
    }
    let parts = RawParts::Whole(table.take());
    reading.skipped = table.skipped;
    let (users, items) = (table.users.finish(), table.items.finish());
    Ok(RawData { users, items, parts, notes: Vec::new(), reading: Some(reading) })
}

/// Reads all rows on all threads. `None` if that takes reading them one after the other, to report an error.
fn read_parallel(
    path: &Path,
    reader: &SerializedFileReader<Reopened>,
    columns: &Columns,
    options: &ReadOptions,
) -> Option<(Records, IdMap, IdMap)> {
    let mut batches = Batches::new(columns, options);
    for groups in Groups::of(reader, usize::MAX) {
        batches.read((path, reader), groups)?;
    }
    Some(batches.finish()).filter(|(records, ..)| !records.user.is_empty())
}
