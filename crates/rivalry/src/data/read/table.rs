//! Reads rows of fields into records: the common part of all formats that have columns.

use std::borrow::Cow;

use super::columns::{Column, Columns};
use super::rows::{Delimiter, Rows};
use super::source::Text;
use super::time::parse_time;
use crate::data::{Interner, Parts, RawData, Records};
use crate::{InputError, Result};

/// How a table is laid out.
pub(super) struct Layout {
    pub delimiter: Delimiter,
    pub quotes: bool,
    pub header: bool,
    /// How many fields each row has.
    pub width: usize,
    pub columns: Columns,
}

/// Turns what a field holds into a dense id.
pub(super) trait Ids {
    fn dense(&mut self, field: &str) -> Result<u32, InputError>;
}

/// Any text is an id, but for none.
impl Ids for Interner {
    fn dense(&mut self, field: &str) -> Result<u32, InputError> {
        if field.is_empty() {
            let fault = InputError::new("the id is empty");
            return Err(fault.help("give every row a user and an item, or take the row out"));
        }
        self.intern(field)
    }
}

/// One log of interactions whose ids are any text.
pub(super) fn read_whole(text: &Text, layout: &Layout, notes: Vec<String>) -> Result<RawData> {
    let (mut users, mut items) = (Interner::default(), Interner::default());
    let records = read_records(text, layout, &mut users, &mut items)?;
    Ok(RawData { users: users.finish(), items: items.finish(), parts: Parts::Whole(records), notes })
}

/// All rows of a table, in order.
pub(super) fn read_records(
    text: &Text,
    layout: &Layout,
    users: &mut impl Ids,
    items: &mut impl Ids,
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
            return Err(ragged(text, layout, line, fields.len()).into());
        }
        let at = |column: &Column, fault: InputError| fault.file(&text.name).line(line).field(&column.name);
        records.user.push(users.dense(&fields[user.at]).map_err(|e| at(user, e))?);
        records.item.push(items.dense(&fields[item.at]).map_err(|e| at(item, e))?);
        if let (Some(column), Some(ratings)) = (rating, &mut records.rating) {
            ratings.push(parse_rating(&fields[column.at]).map_err(|e| at(column, e))?);
        }
        if let (Some(column), Some(times)) = (time, &mut records.time) {
            times.push(read_time(&fields[column.at]).map_err(|e| at(column, e))?);
        }
    }
    if records.user.is_empty() {
        let fault = InputError::new("there is a header but no interaction").file(&text.name);
        return Err(fault.help("if the first line is an interaction, set `header` to false").into());
    }
    Ok(records)
}

fn ragged(text: &Text, layout: &Layout, line: u64, found: usize) -> InputError {
    let fields = |n: usize| if n == 1 { "1 field".to_owned() } else { format!("{n} fields") };
    InputError::new(format!("{} expected, {} found", fields(layout.width), fields(found)))
        .file(&text.name)
        .line(line)
        .help(format!("fields are separated by {}; put quotes around one that holds it", layout.delimiter))
}

/// A rating is a finite number.
pub(super) fn parse_rating(field: &str) -> Result<f32, InputError> {
    field.parse().ok().filter(|rating: &f32| rating.is_finite()).ok_or_else(|| {
        InputError::new(format!("'{field}' is not a finite number"))
            .help("mend the row, or name another column with the option `rating` (\"\" for none)")
    })
}

/// A time is a number or an ISO 8601 date.
pub(super) fn read_time(field: &str) -> Result<i64, InputError> {
    parse_time(field).ok_or_else(|| {
        InputError::new(format!("'{field}' is not a time"))
            .help("write seconds or 2024-05-01T12:30:00Z, or name another column with the option `time` (\"\" for none)")
    })
}
