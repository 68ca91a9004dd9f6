//! Reads the cells of one Parquet column, whatever their type.

use std::path::Path;

use parquet::basic::ConvertedType;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::RowGroupReader;

use super::file::broken;
use crate::read::columns::Column;
use crate::read::records::{parse_rating, parse_timestamp};
use crate::{InputError, Result};

/// One cell.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Integer(i64),
    Unsigned(u64),
    Real(f64),
    Text(&'a str),
}

impl std::fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(n) => n.fmt(f),
            Self::Unsigned(n) => n.fmt(f),
            Self::Real(n) => n.fmt(f), // 7.0 becomes 7: data frames store integer ids with nulls as floats
            Self::Text(text) => text.fmt(f),
        }
    }
}

impl Value<'_> {
    pub fn rating(self) -> Result<f32, InputError> {
        match self {
            Self::Integer(n) => Ok(n as f32),
            Self::Unsigned(n) => Ok(n as f32),
            Self::Real(n) if (n as f32).is_finite() => Ok(n as f32),
            other => parse_rating(&other.to_string()),
        }
    }

    /// Only the order of timestamps matters, so their unit is left as it is.
    pub fn time(self) -> Result<i64, InputError> {
        match self {
            Self::Integer(n) => Ok(n),
            other => parse_timestamp(&other.to_string()),
        }
    }
}

/// One row group of a file.
pub(super) struct RowGroup<'a> {
    pub path: &'a Path,
    pub group: &'a dyn RowGroupReader,
    /// The number of rows before this group.
    pub start: usize,
}

impl RowGroup<'_> {
    /// Calls `f` with each cell of a column in order, `None` for a null. An error of `f` is one of that row.
    pub fn read(
        &self,
        column: &Column,
        mut f: impl FnMut(usize, Option<Value<'_>>) -> Result<(), InputError>,
    ) -> Result<()> {
        let Self { path, group, start } = *self;
        let descr = group.metadata().column(column.index).column_descr_ptr();
        let unsupported = |kind: String| {
            let error =
                InputError::new(format!("can't read a column of {kind}")).file(path).field(&column.name);
            error.help("store it as integers, floats or text, one value per row")
        };
        if descr.max_rep_level() > 0 {
            return Err(unsupported("lists".to_owned()).into());
        }
        let nullable = descr.max_def_level();
        let mut row = start;
        let mut cell = |value: Option<Value<'_>>| {
            row += 1;
            f(row, value).map_err(|e| Failure::Input(e.line(row as u64).file(path).field(&column.name)))
        };
        let unsigned = matches!(descr.converted_type(), ConvertedType::UINT_32 | ConvertedType::UINT_64);
        let result = match group.get_column_reader(column.index).map_err(|e| broken(path, &e))? {
            ColumnReader::Int32ColumnReader(r) if unsigned => {
                cells(r, nullable, |v| cell(v.map(|&n| Value::Unsigned(u64::from(n as u32)))))
            }
            ColumnReader::Int64ColumnReader(r) if unsigned => {
                cells(r, nullable, |v| cell(v.map(|&n| Value::Unsigned(n as u64))))
            }
            ColumnReader::Int32ColumnReader(r) => {
                cells(r, nullable, |v| cell(v.map(|&n| Value::Integer(n.into()))))
            }
            ColumnReader::Int64ColumnReader(r) => cells(r, nullable, |v| cell(v.map(|&n| Value::Integer(n)))),
            ColumnReader::FloatColumnReader(r) => {
                cells(r, nullable, |v| cell(v.map(|&n| Value::Real(n.into()))))
            }
            ColumnReader::DoubleColumnReader(r) => cells(r, nullable, |v| cell(v.map(|&n| Value::Real(n)))),
            ColumnReader::ByteArrayColumnReader(r) => {
                cells(r, nullable, |v| match v.map(|bytes| bytes.as_utf8()) {
                    Some(text) => cell(Some(Value::Text(text?))),
                    None => cell(None),
                })
            }
            _ => return Err(unsupported(format!("type {}", descr.physical_type())).into()),
        };
        result.map_err(|failure| match failure {
            Failure::Input(error) => error.into(),
            Failure::Parquet(error) => broken(path, &error),
        })
    }
}

enum Failure {
    Input(InputError),
    Parquet(ParquetError),
}

impl From<ParquetError> for Failure {
    fn from(error: ParquetError) -> Self {
        Self::Parquet(error)
    }
}

/// Calls `f` with each cell in order, `None` for a null; `present` is the definition level of a non-null cell.
fn cells<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    present: i16,
    mut f: impl FnMut(Option<&T::T>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    const BLOCK: usize = 8192;
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    loop {
        values.clear();
        levels.clear();
        let (rows, _, _) = reader.read_records(BLOCK, Some(&mut levels), None, &mut values)?;
        if rows == 0 {
            return Ok(());
        }
        if present == 0 {
            values.iter().try_for_each(|value| f(Some(value)))?;
            continue;
        }
        let mut values = values.iter();
        for &level in &levels {
            f(if level == present { values.next() } else { None })?;
        }
    }
}
