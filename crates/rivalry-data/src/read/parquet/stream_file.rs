//! Reads Parquet files some row groups at a time.

use std::ops::Range;
use std::path::{Path, PathBuf};

use parquet::file::reader::{FileReader, SerializedFileReader};

use super::ParquetTable;
use super::column::RowGroup;
use super::file::{broken, columns_of, open};
use super::parallel::{Batches, Groups, Reopened};
use super::table::Table;
use crate::read::reading::SkippedRows;
use crate::read::stream::{Blocks, Streamed, other_columns};
use crate::read::{ReadOptions, Reading};
use crate::{IdMap, InputError, Records, Result};

type File = SerializedFileReader<Reopened>;

impl ParquetTable {
    /// Finds the columns, which all files must have, and counts the rows.
    pub fn open(files: &[PathBuf], options: &ReadOptions) -> Result<(Self, u64)> {
        let (mut table, mut rows) = (None::<Self>, 0);
        for path in files {
            let reader = open(path)?;
            rows += reader.metadata().file_metadata().num_rows().max(0) as u64;
            let (names, columns) = columns_of(path, &reader, options)?;
            match &table {
                None => table = Some(Self { columns, names, rows: 0 }),
                Some(first) if first.names == names => {}
                Some(first) => {
                    return Err(other_columns(&names, (&files[0], &first.names)).file(path).into());
                }
            }
        }
        let error = || InputError::new("there are no files").help("give a file with interactions");
        let table = table.ok_or_else(error)?;
        Ok((Self { rows, ..table }, rows))
    }
}

/// Reads the rows of all files in order.
pub(super) fn read(
    table: &ParquetTable,
    files: &[PathBuf],
    options: &ReadOptions,
    blocks: &mut Blocks<'_>,
) -> Result<Streamed> {
    blocks.total = table.rows;
    let mut rows = Rows::new(table, options);
    let mut skipped = SkippedRows::default();
    for path in files {
        let reader = open(path)?;
        rows.read_file(path, &reader, blocks)?;
        let mut of_file = rows.take_skipped();
        if files.len() > 1 {
            of_file.name_file(path);
        }
        skipped.extend(of_file);
    }
    let format = super::FORMAT.name.to_owned();
    let mut reading = Reading { format, ..Reading::default() }.with_columns(&table.columns, true);
    if blocks.rows == 0 {
        return Err(super::table::no_rows(&skipped).file(&files[0]).into());
    }
    reading.skipped = skipped;
    let (users, items) = rows.finish();
    Ok(Streamed { users, items, notes: Vec::new(), reading })
}

/// The rows read so far: on all threads, or one after the other if some may have to be left out.
enum Rows<'a> {
    Parallel(Box<Batches<'a>>),
    InOrder(Box<Table<'a>>),
}

impl<'a> Rows<'a> {
    fn new(table: &'a ParquetTable, options: &'a ReadOptions) -> Self {
        match options.skip_bad_rows {
            false => Self::Parallel(Box::new(Batches::new(&table.columns, options))),
            true => Self::InOrder(Box::new(Table::new(&table.columns, options))),
        }
    }

    fn read_file(&mut self, path: &Path, reader: &File, blocks: &mut Blocks<'_>) -> Result<()> {
        match self {
            Self::Parallel(batches) => {
                let mut start = 0;
                for groups in Groups::of(reader, blocks.sizes.rows) {
                    check_size(path, (reader, groups.clone()), blocks.sizes.rows)?;
                    let rows = batches.read((path, reader), groups.clone());
                    rows.ok_or_else(|| first_error(batches, (path, reader), groups, start))?;
                    let records = batches.take(blocks.sizes.numbers);
                    start += records.user.len();
                    blocks.done += records.user.len() as u64;
                    blocks.push(records, batches.id_bytes())?;
                }
            }
            Self::InOrder(table) => {
                table.rows = 0;
                for index in 0..reader.num_row_groups() {
                    check_size(path, (reader, index..index + 1), blocks.sizes.rows)?;
                    let group = reader.get_row_group(index).map_err(|e| broken(path, &e))?;
                    let before = table.rows;
                    table.read_group(&RowGroup { path, group: &*group, start: before })?;
                    blocks.done += (table.rows - before) as u64;
                    let (records, ids) = (table.take(), table.users.bytes() + table.items.bytes());
                    blocks.push(records, ids)?;
                }
            }
        }
        Ok(())
    }

    fn take_skipped(&mut self) -> SkippedRows {
        match self {
            Self::Parallel(_) => SkippedRows::default(),
            Self::InOrder(table) => std::mem::take(&mut table.skipped),
        }
    }

    fn finish(self) -> (IdMap, IdMap) {
        match self {
            Self::Parallel(batches) => {
                let (Records { .. }, users, items) = batches.finish();
                (users, items)
            }
            Self::InOrder(table) => (table.users.finish(), table.items.finish()),
        }
    }
}

/// Refuses row groups that don't fit into memory.
fn check_size(path: &Path, (reader, groups): (&File, Range<usize>), most: usize) -> Result<()> {
    let largest = groups.map(|group| reader.metadata().row_group(group).num_rows()).max().unwrap_or(0);
    if largest as usize <= most {
        return Ok(());
    }
    let (rows, most) = (crate::thousands(largest as usize), crate::thousands(most));
    let message = format!("a row group has {rows} rows, and there is memory for {most} at a time");
    Err(InputError::new(message)
        .file(path)
        .help("raise --max-memory, or write the file with smaller row groups")
        .into())
}

/// The first error in some row groups, which begin after `start` rows.
fn first_error(
    batches: &Batches<'_>,
    (path, reader): (&Path, &File),
    groups: Range<usize>,
    start: usize,
) -> crate::Error {
    let mut table = Table::new(batches.columns, batches.options);
    table.rows = start;
    for index in groups {
        let group = reader.get_row_group(index).map_err(|e| broken(path, &e));
        let read = group.and_then(|group| {
            let start = table.rows;
            table.read_group(&RowGroup { path, group: &*group, start })
        });
        if let Err(error) = read {
            return error;
        }
    }
    broken(path, &"it has too many different ids")
}
