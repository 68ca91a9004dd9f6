//! Writes tables that other programs read: CSV, TSV, JSON, JSON lines or Parquet, to a file or a stream, row by row.
//!
//! ```
//! use rivalry_data::export::{Cell, Column, ColumnType, TableFormat, TableWriter};
//! use rivalry_data::files::Output;
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("best.csv");
//! let output = Output::new(&path, false)?;
//! let format = TableFormat::of_output(&output, None)?; // by the extension
//! let columns = vec![Column::new("item", ColumnType::Text), Column::new("rank", ColumnType::UInt32)];
//! let mut table = TableWriter::create(&output, format, columns)?;
//! table.row(&[Cell::Text("tea"), Cell::UInt32(1)])?;
//! table.finish()?;
//! assert_eq!(std::fs::read_to_string(&path).unwrap(), "item,rank\ntea,1\n");
//! # Ok::<(), rivalry_data::Error>(())
//! ```

mod compress;
mod delimited;
mod format;
mod json;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(all(test, feature = "parquet", feature = "archives"))]
mod tests;

use std::io;

pub use format::TableFormat;

use self::compress::Compressor;
use self::format::Kind;
use crate::files::{Output, OutputWriter};
use crate::{Error, IdMap, Result};

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The type of its cells.
    pub kind: ColumnType,
}

/// The type of a column. Text formats write all of them as they are displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Text.
    Text,
    /// 64-bit integers, given as text: ids that are numbers.
    Int64,
    /// 32-bit unsigned integers.
    UInt32,
    /// 32-bit floating-point numbers.
    Float32,
    /// 64-bit floating-point numbers.
    Float64,
    /// Lists of 32-bit floating-point numbers, at least one; in CSV and TSV written as a JSON array.
    Vector,
}

impl Column {
    /// A column.
    pub fn new(name: impl Into<String>, kind: ColumnType) -> Self {
        Self { name: name.into(), kind }
    }

    /// A column of original ids: numbers if all ids of the map are whole numbers without leading zeros, otherwise text.
    pub fn of_ids(name: impl Into<String>, ids: &IdMap) -> Self {
        let all = ids.iter().all(|id| integer(id).is_some());
        Self::new(name, if all { ColumnType::Int64 } else { ColumnType::Text })
    }
}

/// The number that a text is the usual form of.
fn integer(text: &str) -> Option<i64> {
    let plain = text == "0" || !text.trim_start_matches('-').starts_with(['0', '+']);
    text.parse().ok().filter(|_| plain)
}

/// A cell of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Text, also for a column of [`ColumnType::Int64`].
    Text(&'a str),
    /// A 32-bit unsigned integer.
    UInt32(u32),
    /// A 32-bit floating-point number.
    Float32(f32),
    /// A 64-bit floating-point number.
    Float64(f64),
    /// A list of 32-bit floating-point numbers.
    Vector(&'a [f32]),
}

/// A table that is being written. Rows are passed on as they come, so memory is bounded; a file appears when the table is
/// [finished](Self::finish).
pub struct TableWriter {
    output: Output,
    columns: Vec<Column>,
    rows: Box<dyn RowWriter>,
}

/// Writes rows in one format.
trait RowWriter {
    fn row(&mut self, columns: &[Column], cells: &[Cell<'_>]) -> io::Result<()>;
    /// Writes what comes after the last row.
    fn finish(self: Box<Self>) -> io::Result<OutputWriter>;
}

impl TableWriter {
    /// Starts a table.
    ///
    /// # Errors
    /// If the output can't be written to, or this build lacks the format.
    pub fn create(output: &Output, format: TableFormat, columns: Vec<Column>) -> Result<Self> {
        format.check_build().map_err(|e| e.file(output.path()))?;
        let sink = output.create()?;
        let compressed = |sink| Compressor::new(sink, format.compression());
        let rows: io::Result<Box<dyn RowWriter>> = match format.kind() {
            Kind::Csv => compressed(sink).and_then(|sink| delimited::start(sink, b',', &columns)),
            Kind::Tsv => compressed(sink).and_then(|sink| delimited::start(sink, b'\t', &columns)),
            Kind::JsonLines => compressed(sink).map(json::lines),
            Kind::Json => compressed(sink).map(json::array),
            #[cfg(feature = "parquet")]
            Kind::Parquet => parquet::start(sink, &columns),
            #[cfg(not(feature = "parquet"))]
            Kind::Parquet => Err(io::ErrorKind::Unsupported.into()),
        };
        let rows = rows.map_err(|e| Error::io("write", output.path(), e))?;
        Ok(Self { output: output.clone(), columns, rows })
    }

    /// Writes a row, with one cell for each column.
    ///
    /// # Errors
    /// If writing fails, or the cells are not those of the columns.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        let fits = cells.len() == self.columns.len();
        let written = match fits {
            true => self.rows.row(&self.columns, cells),
            false => Err(io::Error::other("a row of another length than the table has columns")),
        };
        written.map_err(|e| Error::io("write", self.output.path(), e))
    }

    /// Completes the table.
    ///
    /// # Errors
    /// If writing fails. Then a regular file is as it was before.
    pub fn finish(self) -> Result<()> {
        let sink = self.rows.finish().map_err(|e| Error::io("write", self.output.path(), e))?;
        sink.finish()
    }
}
