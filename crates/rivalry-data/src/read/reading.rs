//! How a source was read, for the user to check.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::columns::{Column, Columns};
use crate::InputError;

/// How a source was read: what was detected, and what was left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reading {
    /// The name of the format.
    pub format: String,
    /// The compression: `gzip`, `zstd`, `xz`, `bzip2` or `zip`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<&'static str>,
    /// The encoding of a text file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<&'static str>,
    /// The delimiter: `tab`, `space` or a character.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// Whether the first row holds the column names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// The columns that were read; empty for formats without columns.
    pub columns: Vec<ColumnRead>,
    /// The names of the columns that were not read, if there is a header.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused_columns: Vec<String>,
    /// The number of comment lines, which start with `#`.
    pub comments: usize,
    /// The rows that were left out.
    #[serde(skip_serializing_if = "SkippedRows::is_empty")]
    pub skipped: SkippedRows,
}

/// A column that was read, and as what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnRead {
    /// `user`, `item`, `rating` or `time`.
    pub role: &'static str,
    /// Its name, or its number if there is no header.
    pub name: String,
}

impl Reading {
    /// The format, the compression, the encoding, the delimiter and the header, as far as there are any.
    pub fn format_summary(&self) -> String {
        let mut parts = vec![self.format.clone()];
        parts.extend(self.compression.map(str::to_owned));
        parts.extend(self.encoding.map(str::to_owned));
        parts.extend(self.delimiter.as_ref().map(|delimiter| format!("delimiter {delimiter}")));
        parts.extend(self.header.map(|header| if header { "with a header" } else { "no header" }.to_owned()));
        parts.join(", ")
    }

    /// The columns and what they were read as: `user = userId, item = movieId`; empty if there are none.
    pub fn column_summary(&self) -> String {
        let columns = self.columns.iter().map(|column| format!("{} = {}", column.role, column.name));
        columns.collect::<Vec<_>>().join(", ")
    }

    /// The columns with their roles; without a header, a column's name is its number.
    pub(super) fn with_columns(mut self, columns: &Columns, header: bool) -> Self {
        let name =
            |column: &Column| if header { column.name.clone() } else { (column.index + 1).to_string() };
        self.columns =
            columns.roles().map(|(role, column)| ColumnRead { role, name: name(column) }).collect();
        self.unused_columns = columns.unused.clone();
        self
    }
}

/// Rows that were left out because they could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedRows {
    /// Their number.
    pub count: usize,
    /// The first of them.
    pub first: Vec<SkippedRow>,
}

/// A row that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedRow {
    /// The line in the file, or the row of a Parquet file, counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

impl SkippedRows {
    /// How many rows are listed.
    const LISTED: usize = 5;

    /// Whether no row was left out.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn add(&mut self, line: u64, error: &InputError) {
        self.count += 1;
        if self.first.len() < Self::LISTED {
            self.first.push(SkippedRow { line, reason: error.reason() });
        }
    }

    /// Says that they are rows of this file.
    pub(super) fn name_file(&mut self, file: &Path) {
        let name = file.file_name().unwrap_or_default().display();
        self.first.iter_mut().for_each(|row| row.reason = format!("{name}: {}", row.reason));
    }

    /// Adds those of another file of the same source.
    pub(super) fn extend(&mut self, other: Self) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.truncate(Self::LISTED);
    }
}

/// The rows that were left out, with the first of them.
impl std::fmt::Display for SkippedRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rows = if self.count == 1 { "row that" } else { "rows that" };
        write!(f, "skipped {} {rows} can't be read", crate::thousands(self.count))?;
        self.first.iter().try_for_each(|row| write!(f, "\n  line {}: {}", row.line, row.reason))?;
        match self.count - self.first.len() {
            0 => Ok(()),
            more => write!(f, "\n  and {} more", crate::thousands(more)),
        }
    }
}
