//! The columns of a Parquet file, row group by row group.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::column::{RowGroup, Value};
use super::file::broken;
use crate::read::columns::{Column, Columns};
use crate::read::records::DenseIds;
use crate::read::{ReadOptions, SkippedRows};
use crate::{InputError, Interner, Records, Result};

/// The columns read so far.
pub(super) struct Table<'a> {
    columns: &'a Columns,
    options: &'a ReadOptions,
    pub users: Interner,
    pub items: Interner,
    pub user: Vec<u32>,
    pub item: Vec<u32>,
    pub rating: Vec<f32>,
    pub time: Vec<i64>,
    /// The number of rows read, including those left out.
    pub rows: usize,
    pub skipped: SkippedRows,
}

impl<'a> Table<'a> {
    pub fn new(columns: &'a Columns, options: &'a ReadOptions) -> Self {
        Self {
            columns,
            options,
            users: Interner::default(),
            items: Interner::default(),
            user: Vec::new(),
            item: Vec::new(),
            rating: Vec::new(),
            time: Vec::new(),
            rows: 0,
            skipped: SkippedRows::default(),
        }
    }

    /// Adds the rows of a row group.
    pub fn read_group(&mut self, group: &RowGroup<'_>) -> Result<()> {
        let Columns { user, item, rating, time, .. } = self.columns;
        let bad = if self.options.skip_bad_rows { self.bad_rows(group)? } else { BTreeMap::new() };
        let good = |row: usize| !bad.contains_key(&row);
        let needs_ratings = self.options.needs_ratings;
        let (mut users, mut items, mut rows) = (0, 0, 0);
        let mut text = String::new();
        group.read(user, |row, value| {
            users += 1;
            if good(row) {
                self.user.push(id(&mut self.users, value, &mut text)?);
            }
            Ok(())
        })?;
        group.read(item, |row, value| {
            items += 1;
            if good(row) {
                self.item.push(id(&mut self.items, value, &mut text)?);
            }
            Ok(())
        })?;
        let mut same_length = users == items;
        if let Some(column) = rating {
            group.read(column, |row, value| {
                rows += 1;
                if good(row) {
                    self.rating.push(rating_of(value, needs_ratings)?);
                }
                Ok(())
            })?;
            same_length &= rows == users;
        }
        if let Some(column) = time {
            rows = 0;
            group.read(column, |row, value| {
                rows += 1;
                if good(row) {
                    self.time.push(present(value)?.time()?);
                }
                Ok(())
            })?;
            same_length &= rows == users;
        }
        if !same_length {
            return Err(broken(group.path, &"its columns differ in length"));
        }
        self.rows += users;
        bad.into_iter().for_each(|(row, error)| self.skipped.add(row as u64, &error));
        Ok(())
    }

    /// The rows that can't be read, found before any id is assigned.
    fn bad_rows(&self, group: &RowGroup<'_>) -> Result<BTreeMap<usize, InputError>> {
        let Columns { user, item, rating, time, .. } = self.columns;
        let needs_ratings = self.options.needs_ratings;
        let mut bad = BTreeMap::new();
        let mut text = String::new();
        let mut note = |row, column: &Column, checked: Result<(), InputError>| {
            if let Err(error) = checked {
                bad.entry(row).or_insert(error.field(&column.name));
            }
            Ok(())
        };
        for (column, ids) in [(user, &self.users), (item, &self.items)] {
            group.read(column, |row, value| {
                note(row, column, present(value).and_then(|value| ids.check(as_text(value, &mut text))))
            })?;
        }
        if let Some(column) = rating {
            group.read(column, |row, value| note(row, column, rating_of(value, needs_ratings).map(drop)))?;
        }
        if let Some(column) = time {
            group.read(column, |row, value| {
                note(row, column, present(value).and_then(Value::time).map(drop))
            })?;
        }
        Ok(bad)
    }

    /// Takes out the rows so far.
    pub fn take(&mut self) -> Records {
        let take = std::mem::take::<Vec<u32>>;
        Records {
            user: take(&mut self.user),
            item: take(&mut self.item),
            rating: self.columns.rating.as_ref().map(|_| std::mem::take(&mut self.rating)),
            time: self.columns.time.as_ref().map(|_| std::mem::take(&mut self.time)),
        }
    }
}

/// The error if no row was read.
pub(super) fn no_rows(skipped: &SkippedRows) -> InputError {
    match skipped.first.first() {
        Some(row) => {
            let (count, line, reason) = (skipped.count, row.line, &row.reason);
            InputError::new(format!("none of the {count} rows can be read; row {line}: {reason}"))
        }
        None => InputError::new("the file has no rows").help("give a file with interactions"),
    }
}

pub(super) fn present(value: Option<Value<'_>>) -> Result<Value<'_>, InputError> {
    value.ok_or_else(|| {
        let error = InputError::new("there is no value (null)");
        error.help("fill in the value, remove the row, or use `data.read.skip_bad_rows = true`")
    })
}

pub(super) fn rating_of(value: Option<Value<'_>>, needed: bool) -> Result<f32, InputError> {
    match value {
        None if !needed => Ok(f32::NAN),
        // Data frames store missing numbers as NaN.
        Some(Value::Real(number)) if number.is_nan() && !needed => Ok(f32::NAN),
        Some(Value::Text(text)) if text.trim_ascii().is_empty() && !needed => Ok(f32::NAN),
        value => present(value)?.rating(),
    }
}

fn id(ids: &mut Interner, value: Option<Value<'_>>, text: &mut String) -> Result<u32, InputError> {
    let id = as_text(present(value)?, text);
    ids.check(id)?;
    ids.dense(id)
}

/// The text of an id.
pub(super) fn as_text<'v>(value: Value<'v>, text: &'v mut String) -> &'v str {
    match value {
        Value::Text(id) => id.trim_ascii(),
        number => {
            text.clear();
            let _ = write!(text, "{number}"); // writing to a String can't fail
            text
        }
    }
}
