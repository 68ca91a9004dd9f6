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
<<<<<<< HEAD
        let whole = |column: &Option<Column>, len| column.is_none() || len == user.len();
=======
        let whole = |column: &Option<_>, len| column.is_none() || len == user.len();
>>>>>>> read
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
<<<<<<< HEAD

/// One cell.
#[derive(Clone, Copy)]
enum Value<'a> {
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
            Self::Real(n) => n.fmt(f), // 7.0 is written 7: libraries store ids beside missing ones as reals
            Self::Text(text) => text.fmt(f),
        }
    }
}

impl Value<'_> {
    fn rating(self) -> Result<f32, InputError> {
        match self {
            Self::Integer(n) => Ok(n as f32),
            Self::Unsigned(n) => Ok(n as f32),
            Self::Real(n) if (n as f32).is_finite() => Ok(n as f32),
            other => parse_rating(&other.to_string()),
        }
    }

    /// Only the order of times matters, so the unit of a time stamp is left as it is.
    fn time(self) -> Result<i64, InputError> {
        match self {
            Self::Integer(n) => Ok(n),
            other => read_time(&other.to_string()),
        }
    }
}

/// Hands every cell of a column in one row group to `f`; `start` is the number of rows before the group.
fn visit(
    path: &Path,
    file: &SerializedFileReader<File>,
    group: usize,
    start: usize,
    column: &Column,
    f: &mut dyn FnMut(Value<'_>) -> Result<(), InputError>,
) -> Result<()> {
    let group = file.get_row_group(group).map_err(|e| broken(path, &e))?;
    let descr = group.metadata().column(column.at).column_descr_ptr();
    let unsupported = |kind: String| {
        let fault = InputError::new(format!("can't read a column of {kind}")).file(path).field(&column.name);
        fault.help("write it as whole numbers, reals or text, one value a row")
    };
    if descr.max_rep_level() > 0 {
        return Err(unsupported("lists".to_owned()).into());
    }
    let mut row = start;
    let nullable = descr.max_def_level();
    let mut cell = |value: Option<Value<'_>>| {
        row += 1;
        let value = value.ok_or_else(|| {
            InputError::new("no value (null)").help("give every row a value, or take the row out")
        });
        value.and_then(&mut *f).map_err(|e| Failure::Input(e.line(row as u64).file(path).field(&column.name)))
    };
    let unsigned = matches!(descr.converted_type(), ConvertedType::UINT_32 | ConvertedType::UINT_64);
    let result = match group.get_column_reader(column.at).map_err(|e| broken(path, &e))? {
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
        ColumnReader::FloatColumnReader(r) => cells(r, nullable, |v| cell(v.map(|&n| Value::Real(n.into())))),
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
        Failure::Input(fault) => fault.into(),
        Failure::Parquet(error) => broken(path, &error),
    })
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

/// Calls `f` with each cell in order, `None` for a null; `present` is the level of a cell that is there.
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
=======
>>>>>>> read
