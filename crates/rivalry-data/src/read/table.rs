//! Tables of text: rows of fields, one record each.

use std::borrow::Cow;

use super::ReadOptions;
use super::columns::{Column, Columns};
use super::parallel::{self, Parsed};
use super::reading::{Reading, SkippedRows};
use super::records::{DenseIds, RecordBuilder, Row};
use super::rows::{Delimiter, Rows};
use super::source::Text;
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

impl Layout {
    /// How a text of this layout was read.
    pub fn reading(&self, format: &str, text: &Text) -> Reading {
        let reading = text.reading(format).with_columns(&self.columns, self.header);
        let delimiter = Some(self.delimiter.to_string());
        Reading { delimiter, header: Some(self.header), ..reading }
    }
}

/// The records of a table, and what was left out.
pub(super) struct TableRecords {
    pub records: Records,
    pub skipped: SkippedRows,
    /// Comment lines between the rows.
    pub comments: usize,
}

/// Reads a single log of interactions whose ids may be any text.
pub(super) fn read_whole(
    text: &Text,
    layout: &Layout,
    format: &str,
    options: &ReadOptions,
) -> Result<RawData> {
    let Parsed { table, users, items } = match parallel::read(text, layout, options)? {
        Some(parsed) => parsed,
        None if text.rest.is_some() => return Err(InputError::new("the rest of the file is missing").into()),
        None => read_in_order(text, layout, options)?,
    };
    let mut reading = layout.reading(format, text);
    reading.comments += table.comments;
    reading.skipped = table.skipped;
    Ok(RawData {
        users,
        items,
        parts: RawParts::Whole(table.records),
        notes: Vec::new(),
        reading: Some(reading),
    })
}

/// Reads the rows one after the other.
pub(super) fn read_in_order(text: &Text, layout: &Layout, options: &ReadOptions) -> Result<Parsed> {
    let (mut users, mut items) = (Interner::default(), Interner::default());
    let table = read_records(text, layout, options, (&mut users, &mut items))?;
    Ok(Parsed { table, users: users.finish(), items: items.finish() })
}

/// Reads all rows of a table, in order.
pub(super) fn read_records(
    text: &Text,
    layout: &Layout,
    options: &ReadOptions,
    (users, items): (&mut impl DenseIds, &mut impl DenseIds),
) -> Result<TableRecords> {
    let Columns { user, item, rating, time, .. } = &layout.columns;
    let mut rows = Rows::new(text, layout.delimiter, layout.quotes);
    let mut fields: Vec<Cow<'_, str>> = Vec::new();
    if layout.header {
        rows.next_into(&mut fields)?;
    }
    let mut builder = RecordBuilder::new(users, items, &layout.columns, options);
    let mut comments = 0;
    let mut any = false;
    while let Some(line) = rows.next_into(&mut fields)? {
        if is_comment(text, layout, &fields) {
            comments += 1;
            continue;
        }
        any = true;
        let pushed = if fields.len() == layout.width {
            let optional = |column: &Option<Column>| column.as_ref().map_or("", |c| &*fields[c.index]);
            let (rating, time) = (optional(rating), optional(time));
            builder.push(Row { user: &fields[user.index], item: &fields[item.index], rating, time })
        } else {
            Err(wrong_width(layout, fields.len()))
        };
        if let Err(error) = pushed {
            builder.skip(line, error).map_err(|e| e.file(&text.name).line(line))?;
        }
    }
    if !any {
        return Err(no_interaction().file(&text.name).into());
    }
    let (records, skipped) = builder.finish().map_err(|error| error.file(&text.name))?;
    Ok(TableRecords { records, skipped, comments })
}

/// The error for a table without rows.
pub(super) fn no_interaction() -> InputError {
    let error = InputError::new("there is a header but no interaction");
    error.help("if the first line is an interaction, set `data.read.header = false`")
}

/// Whether a row is a comment. A file that starts with comments may have more; elsewhere `#` may begin an id.
pub(super) fn is_comment(text: &Text, layout: &Layout, fields: &[Cow<'_, str>]) -> bool {
    let fits = fields.len() == layout.width;
    fields.first().is_some_and(|field| field.starts_with('#')) && (text.comments > 0 || !fits)
}

pub(super) fn wrong_width(layout: &Layout, found: usize) -> InputError {
    let fields = |n: usize| if n == 1 { "1 field".to_owned() } else { format!("{n} fields") };
    let help = format!(
        "the delimiter is {}; quote fields that contain it, or use `data.read.skip_bad_rows = true`",
        layout.delimiter
    );
    InputError::new(format!("expected {}, found {}", fields(layout.width), fields(found))).help(help)
}
