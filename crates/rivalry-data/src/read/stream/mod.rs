//! Reads tables of any size, in one file or in several, some rows at a time.
//!
//! Dense ids, skipped rows and errors are those of reading the whole table. In memory are the different ids, and one block
//! of rows.

mod head;
mod rows;
mod text;

use std::path::{Path, PathBuf};

use self::text::TextTable;
use super::columns::Columns;
use super::parallel::Sizes;
use super::parquet::{self, ParquetTable};
use super::parts::PartFiles;
use super::source::is_parquet;
use super::{ReadOptions, Reading};
use crate::memory::MemoryLimit;
use crate::{Error, IdMap, RawData, RawParts, Records, Result};

pub(crate) use self::rows::Blocks;
#[cfg(feature = "parquet")]
pub(super) use self::text::other_columns;

/// A table that can be read some rows at a time.
pub(crate) struct Stream {
    files: Vec<PathBuf>,
    table: Table,
    /// About how many rows there are.
    pub rows: u64,
}

enum Table {
    Text(TextTable),
    Parquet(ParquetTable),
}

/// What is known of a table once all its rows have been read.
pub(crate) struct Streamed {
    pub users: IdMap,
    pub items: IdMap,
    pub notes: Vec<String>,
    pub reading: Reading,
}

/// How much is in memory at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamSizes {
    /// How much text is parsed at a time.
    pub block: usize,
    /// The bytes that the different ids may take.
    pub ids: usize,
    /// Ids that are numbers below this are looked up in a table of all numbers.
    pub numbers: usize,
    /// The number of rows that may be read at a time where the file decides on it: those of a row group.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet files have row groups"))]
    pub rows: usize,
    /// The memory of a decompressor.
    pub memory: MemoryLimit,
}

impl StreamSizes {
    fn text(self) -> Sizes {
        let defaults = Sizes::default();
        let Sizes { head, chunk, .. } = defaults;
        Sizes { head: head.min(self.block), block: self.block, chunk: chunk.min(self.block) }
    }
}

impl Stream {
    /// The table at a path: a CSV file, a Parquet file, or a folder of such files. `None` if it is something else.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Option<Self>> {
        let failed = |e| Error::io("read", path, e);
        if std::fs::metadata(path).map_err(failed)?.is_dir() {
            let parts = PartFiles::find(path)?;
            return parts.map(|parts| Self::of_parts(&parts, options)).transpose();
        }
        let files = vec![path.to_owned()];
        let named = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"));
        if named || is_parquet(&first_bytes(path)?) {
            return Self::of_files(files, true, options).map(Some);
        }
        let requested = super::requested_format(options)?;
        match TextTable::recognise(path, requested, options)? {
            true => Self::of_files(files, false, options).map(Some),
            false => Ok(None),
        }
    }

    fn of_parts(parts: &PartFiles, options: &ReadOptions) -> Result<Self> {
        Self::of_files(parts.files.clone(), parts.parquet, options)
    }

    fn of_files(files: Vec<PathBuf>, parquet: bool, options: &ReadOptions) -> Result<Self> {
        let (table, rows) = if parquet {
            let (table, rows) = ParquetTable::open(&files, options)?;
            (Table::Parquet(table), rows)
        } else {
            let (table, rows) = TextTable::open(&files, options)?;
            (Table::Text(table), rows)
        };
        Ok(Self { files, table, rows })
    }

    fn columns(&self) -> &Columns {
        match &self.table {
            Table::Text(table) => &table.layout.columns,
            Table::Parquet(table) => &table.columns,
        }
    }

    /// Whether the rows have times.
    pub fn timed(&self) -> bool {
        self.columns().time.is_some()
    }

    /// Whether the rows have ratings.
    pub fn rated(&self) -> bool {
        self.columns().rating.is_some()
    }

    /// Its columns, without rows.
    pub fn no_records(&self) -> Records {
        let (rating, time) = (self.rated().then(Vec::new), self.timed().then(Vec::new));
        Records { rating, time, ..Records::default() }
    }

    /// Calls `sink` with the rows, some at a time, and with how much has been read and how much there is.
    ///
    /// # Errors
    /// If a file can't be read or violates the format, the different ids take more memory than allowed, or `sink` fails.
    pub fn read(
        &self,
        options: &ReadOptions,
        sizes: StreamSizes,
        sink: &mut dyn FnMut(Records, (u64, u64)) -> Result<()>,
    ) -> Result<Streamed> {
        let mut blocks = Blocks::new(sizes, sink);
        match &self.table {
            Table::Text(table) => table.read(&self.files, options, &mut blocks),
            Table::Parquet(table) => parquet::read_stream(table, &self.files, options, &mut blocks),
        }
    }
}

/// Reads a table in several files as a whole.
pub(super) fn read_parts(parts: &PartFiles, options: &ReadOptions) -> Result<RawData> {
    let stream = Stream::of_parts(parts, options)?;
    let numbers = 2 * stream.rows.max(1 << 16) as usize;
    let (block, memory) = (Sizes::default().block, MemoryLimit::default());
    let sizes = StreamSizes { block, ids: usize::MAX, numbers, rows: usize::MAX, memory };
    let mut all = stream.no_records();
    let Streamed { users, items, notes, reading } = stream.read(options, sizes, &mut |records, _| {
        all.extend(records);
        Ok(())
    })?;
    Ok(RawData { users, items, parts: RawParts::Whole(all), notes, reading: Some(reading) })
}

fn first_bytes(path: &Path) -> Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(4).read_to_end(&mut bytes));
    read.map_err(|e| Error::io("read", path, e))?;
    Ok(bytes)
}
