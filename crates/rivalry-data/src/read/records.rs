//! Turns the fields of one row into one record; shared by all formats with columns.

use super::ReadOptions;
use super::columns::{Column, Columns};
use super::reading::SkippedRows;
use super::time::parse_time;
use crate::{InputError, Interner, Records, Result};

/// Maps the text of a field to a dense id.
pub(super) trait DenseIds {
    /// Refuses what is no id, without assigning one.
    fn check(&self, _field: &str) -> Result<(), InputError> {
        Ok(())
    }

    fn dense(&mut self, field: &str) -> Result<u32, InputError>;
}

/// Any non-empty text is an id.
impl DenseIds for Interner {
    fn check(&self, field: &str) -> Result<(), InputError> {
        check_id(field)
    }

    fn dense(&mut self, field: &str) -> Result<u32, InputError> {
        self.intern(field)
    }
}

/// Refuses an empty id.
pub(super) fn check_id(field: &str) -> Result<(), InputError> {
    if field.is_empty() {
        let error = InputError::new("the id is empty");
        return Err(error.help("give every row a user and an item, or use `data.read.skip_bad_rows = true`"));
    }
    Ok(())
}

/// The fields of one row.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub user: &'a str,
    pub item: &'a str,
    /// Empty if there is no such column.
    pub rating: &'a str,
    /// Empty if there is no such column.
    pub time: &'a str,
}

/// Builds records row by row.
pub(super) struct RecordBuilder<'a, U, I> {
    pub users: &'a mut U,
    pub items: &'a mut I,
    columns: &'a Columns,
    needs_ratings: bool,
    skip_bad_rows: bool,
    records: Records,
    skipped: SkippedRows,
}

impl<'a, U: DenseIds, I: DenseIds> RecordBuilder<'a, U, I> {
    pub fn new(users: &'a mut U, items: &'a mut I, columns: &'a Columns, options: &ReadOptions) -> Self {
        let records = Records {
            rating: columns.rating.as_ref().map(|_| Vec::new()),
            time: columns.time.as_ref().map(|_| Vec::new()),
            ..Records::default()
        };
        let ReadOptions { needs_ratings, skip_bad_rows, .. } = *options;
        Self { users, items, columns, needs_ratings, skip_bad_rows, records, skipped: SkippedRows::default() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Row<'_>) -> Result<(), InputError> {
        let Columns { user, item, rating: rating_column, time, .. } = self.columns;
        let of = |column: &Column, error: InputError| error.field(&column.name);
        self.users.check(row.user).map_err(|e| of(user, e))?;
        self.items.check(row.item).map_err(|e| of(item, e))?;
        let rating = match rating_column {
            Some(column) => Some(rating(row.rating, self.needs_ratings).map_err(|e| of(column, e))?),
            None => None,
        };
        let time = match time {
            Some(column) => Some(parse_timestamp(row.time).map_err(|e| of(column, e))?),
            None => None,
        };
        // Nothing is added before the whole row is known to be valid.
        let user = self.users.dense(row.user).map_err(|e| of(user, e))?;
        let item = self.items.dense(row.item).map_err(|e| of(item, e))?;
        self.records.user.push(user);
        self.records.item.push(item);
        if let (Some(ratings), Some(rating)) = (&mut self.records.rating, rating) {
            ratings.push(rating);
        }
        if let (Some(times), Some(time)) = (&mut self.records.time, time) {
            times.push(time);
        }
        Ok(())
    }

    /// Leaves a bad row out if the user asked for it; otherwise it is an error.
    pub fn skip(&mut self, line: u64, error: InputError) -> Result<(), InputError> {
        if !self.skip_bad_rows {
            return Err(error);
        }
        self.skipped.add(line, &error);
        Ok(())
    }

    /// The records, unless there are none.
    pub fn finish(self) -> Result<(Records, SkippedRows), InputError> {
        match none_read(&self.skipped) {
            Some(error) if self.records.user.is_empty() => Err(error),
            _ => Ok((self.records, self.skipped)),
        }
    }
}

/// The error for a table of which all rows were left out; `None` if none was.
pub(super) fn none_read(skipped: &SkippedRows) -> Option<InputError> {
    let row = skipped.first.first()?;
    let (count, reason) = (skipped.count, &row.reason);
    let message = format!("none of the {count} rows can be read; the first is bad because: {reason}");
    Some(InputError::new(message).line(row.line))
}

/// How tables write that there is no value.
const MISSING: [&str; 6] = ["", "na", "n/a", "nan", "null", "none"];

/// The rating in a field; NaN for a missing one, unless every record needs a rating.
pub(super) fn rating(field: &str, needed: bool) -> Result<f32, InputError> {
    let missing = || MISSING.iter().any(|text| text.eq_ignore_ascii_case(field));
    if !needed && missing() { Ok(f32::NAN) } else { parse_rating(field) }
}

/// Parses a rating: a finite number, with a decimal point or a decimal comma.
pub(super) fn parse_rating(field: &str) -> Result<f32, InputError> {
    let finite = |text: &str| text.parse().ok().filter(|rating: &f32| rating.is_finite());
    if let Some(rating) = finite(field) {
        return Ok(rating);
    }
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let comma = field
        .split_once(',')
        .filter(|(whole, fraction)| digits(whole.trim_start_matches(['-', '+'])) && digits(fraction));
    match comma {
        Some((_, fraction)) if fraction.len() == 3 => {
            let error =
                InputError::new(format!("'{field}' may have a decimal comma or a thousands separator"));
            Err(error.help("write it with a decimal point, or without the separator"))
        }
        Some((whole, fraction)) => finite(&format!("{whole}.{fraction}")).ok_or_else(|| not_finite(field)),
        None => Err(not_finite(field)),
    }
}

fn not_finite(field: &str) -> InputError {
    let what = if field.is_empty() {
        "the rating is empty".to_owned()
    } else {
        format!("'{field}' is not a finite number")
    };
    InputError::new(what).help(
        "correct the row, use `data.read.skip_bad_rows = true`, or name another column with `data.read.rating` (\"\" for none)",
    )
}

/// Parses a timestamp: a number or an ISO 8601 date.
pub(super) fn parse_timestamp(field: &str) -> Result<i64, InputError> {
    parse_time(field).ok_or_else(|| {
        let what = if field.is_empty() { "the time is empty".to_owned() } else { format!("'{field}' is not a timestamp") };
        InputError::new(what).help(
            "write seconds or 2024-05-01T12:30:00Z, use `data.read.skip_bad_rows = true`, or name another column with \
             `data.read.time` (\"\" for none)",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratings_have_a_decimal_point_or_comma() {
        for (text, rating) in [("4", 4.0), ("4.5", 4.5), ("4,5", 4.5), ("-0,25", -0.25), ("1,2345", 1.2345)] {
            assert_eq!(parse_rating(text).unwrap(), rating, "{text}");
        }
        for text in ["1,000", "4,5,6", ",5", "4,", "good", "", "NaN"] {
            assert!(parse_rating(text).is_err(), "{text}");
        }
        for text in ["", "NA", "nan", "NULL"] {
            assert!(rating(text, false).unwrap().is_nan() && rating(text, true).is_err(), "{text}");
        }
        assert!(rating("good", false).is_err());
        assert!(parse_rating("1,000").unwrap_err().to_string().contains("decimal comma or a thousands"));
    }
}
