//! Turns rows of fields into records; shared by all formats with columns.

use std::borrow::Cow;

use super::columns::{Column, Columns};
use super::rows::{Delimiter, Rows};
use super::source::Text;
use super::time::parse_time;
use crate::{InputError, Interner, RawData, RawParts, Records, Result};

/// The layout of a table.
pub(super) struct Layout {
    pub delimiter: Delimiter,
    pub quotes: bool,
    pub header: bool,
    /// The number of fields in each row.
    pub width: usize,
    pub columns: Columns,
}

/// Maps the text of a field to a dense id.
pub(super) trait DenseIds {
    fn dense(&mut self, field: &str) -> Result<u32, InputError>;
}

/// Any non-empty text is an id.
impl DenseIds for Interner {
    fn dense(&mut self, field: &str) -> Result<u32, InputError> {
        if field.is_empty() {
            let error = InputError::new("the id is empty");
            return Err(error.help("give every row a user and an item, or remove the row"));
        }
        self.intern(field)
    }
}

/// Reads a single log of interactions whose ids may be any text.
pub(super) fn read_whole(text: &Text, layout: &Layout, notes: Vec<String>) -> Result<RawData> {
    let (mut users, mut items) = (Interner::default(), Interner::default());
    let records = read_records(text, layout, &mut users, &mut items)?;
    Ok(RawData { users: users.finish(), items: items.finish(), parts: RawParts::Whole(records), notes })
}

/// Reads all rows of a table, in order.
pub(super) fn read_records(
    text: &Text,
    layout: &Layout,
    users: &mut impl DenseIds,
    items: &mut impl DenseIds,
) -> Result<Records> {
    let Columns { user, item, rating, time } = &layout.columns;
    let mut rows = Rows::new(text, layout.delimiter, layout.quotes);
    let mut fields: Vec<Cow<'_, str>> = Vec::new();
    if layout.header {
        rows.next_into(&mut fields)?;
    }
    let mut records = Records {
        rating: rating.as_ref().map(|_| Vec::new()),
        time: time.as_ref().map(|_| Vec::new()),
        ..Records::default()
    };
    while let Some(line) = rows.next_into(&mut fields)? {
        if fields.len() != layout.width {
            return Err(wrong_width(text, layout, line, fields.len()).into());
        }
        let at = |column: &Column, error: InputError| error.file(&text.name).line(line).field(&column.name);
        records.user.push(users.dense(&fields[user.index]).map_err(|e| at(user, e))?);
        records.item.push(items.dense(&fields[item.index]).map_err(|e| at(item, e))?);
        if let (Some(column), Some(ratings)) = (rating, &mut records.rating) {
            ratings.push(parse_rating(&fields[column.index]).map_err(|e| at(column, e))?);
        }
        if let (Some(column), Some(times)) = (time, &mut records.time) {
            times.push(parse_timestamp(&fields[column.index]).map_err(|e| at(column, e))?);
        }
    }
    if records.user.is_empty() {
        let error = InputError::new("there is a header but no interaction").file(&text.name);
        return Err(error.help("if the first line is an interaction, set `header` to false").into());
    }
    Ok(records)
}

fn wrong_width(text: &Text, layout: &Layout, line: u64, found: usize) -> InputError {
    let fields = |n: usize| if n == 1 { "1 field".to_owned() } else { format!("{n} fields") };
    InputError::new(format!("expected {}, found {}", fields(layout.width), fields(found)))
        .file(&text.name)
        .line(line)
        .help(format!("the delimiter is {}; quote fields that contain it", layout.delimiter))
}

/// Parses a rating: a finite number.
pub(super) fn parse_rating(field: &str) -> Result<f32, InputError> {
    field.parse().ok().filter(|rating: &f32| rating.is_finite()).ok_or_else(|| {
        InputError::new(format!("'{field}' is not a finite number"))
            .help("correct the row, or name another column with the option `rating` (\"\" for none)")
    })
}

/// Parses a timestamp: a number or an ISO 8601 date.
pub(super) fn parse_timestamp(field: &str) -> Result<i64, InputError> {
    parse_time(field).ok_or_else(|| {
        InputError::new(format!("'{field}' is not a timestamp")).help(
            "write seconds or 2024-05-01T12:30:00Z, or name another column with the option `time` (\"\" for none)",
        )
    })
}
