//! Parquet files with flat columns. Reading them takes the feature `parquet`.

#[cfg(feature = "parquet")]
mod column;
#[cfg(feature = "parquet")]
mod file;
#[cfg(feature = "parquet")]
mod parallel;
#[cfg(feature = "parquet")]
mod stream_file;
#[cfg(feature = "parquet")]
mod table;

use std::path::{Path, PathBuf};

use super::columns::Columns;
use super::source::{Source, mismatch};
use super::stream::{self, Blocks, Streamed};
use super::{Confidence, Format, ReadOptions};
use crate::{RawData, Result};

pub(super) const FORMAT: Format = Format {
    name: "parquet",
    summary: "Parquet with flat columns of numbers or text, by name or number",
    recognised_by: "the extension .parquet, or its first four bytes",
    options: &["user", "item", "rating", "time"],
    streams: false,
    recognise,
    read,
};

fn recognise(source: &Source) -> Confidence {
    match source {
        Source::Parquet(_) => Confidence::Name,
        Source::Parts(parts) if parts.parquet => Confidence::Name,
        _ => Confidence::None,
    }
}

fn read(source: &Source, options: &ReadOptions) -> Result<RawData> {
    match source {
        Source::Parquet(path) => read_parquet(path, options),
        Source::Text(text) => Err(mismatch(&text.name, FORMAT.name, "a Parquet file", "text")),
        Source::Bundle(bundle) => Err(mismatch(&bundle.name, FORMAT.name, "a Parquet file", "several files")),
        Source::Parts(parts) if parts.parquet => stream::read_parts(parts, options),
        Source::Parts(parts) => Err(mismatch(&parts.folder, FORMAT.name, "Parquet files", "text")),
    }
}

/// A table in one or several files.
pub(super) struct ParquetTable {
    pub columns: Columns,
    /// The names of all columns.
    #[cfg(feature = "parquet")]
    names: Vec<String>,
    #[cfg(feature = "parquet")]
    rows: u64,
}

#[cfg(feature = "parquet")]
fn read_parquet(path: &Path, options: &ReadOptions) -> Result<RawData> {
    catching(path, || file::read(path, options))
}

/// Reads the rows of all files in order.
#[cfg(feature = "parquet")]
pub(super) fn read_stream(
    table: &ParquetTable,
    files: &[PathBuf],
    options: &ReadOptions,
    blocks: &mut Blocks<'_>,
) -> Result<Streamed> {
    catching(&files[0], || stream_file::read(table, files, options, blocks))
}

/// A corrupt file may make the third-party decoders panic; that is still an error of the file.
#[cfg(feature = "parquet")]
fn catching<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    let read = catch_unwind(AssertUnwindSafe(read));
    read.unwrap_or_else(|_| Err(file::broken(path, &"its pages are inconsistent")))
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(path: &Path, _: &ReadOptions) -> Result<RawData> {
    Err(unsupported(path).into())
}

#[cfg(not(feature = "parquet"))]
pub(super) fn read_stream(
    _: &ParquetTable,
    files: &[PathBuf],
    _: &ReadOptions,
    _: &mut Blocks<'_>,
) -> Result<Streamed> {
    Err(unsupported(&files[0]).into())
}

#[cfg(not(feature = "parquet"))]
impl ParquetTable {
    pub fn open(files: &[PathBuf], _: &ReadOptions) -> Result<(Self, u64)> {
        Err(unsupported(&files[0]).into())
    }
}

#[cfg(not(feature = "parquet"))]
fn unsupported(path: &Path) -> crate::InputError {
    crate::InputError::missing_feature("read Parquet files", "parquet")
        .file(path)
        .help("convert it to CSV, or build with the feature `parquet`")
}
