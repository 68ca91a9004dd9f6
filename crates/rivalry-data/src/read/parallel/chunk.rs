//! The rows of one chunk.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;

use super::Plan;
use super::ids::{IdChunk, Kinds};
use super::row::{Fields, PlainRow};
use crate::InputError;
use crate::read::columns::{Column, Columns};
use crate::read::reading::SkippedRows;
use crate::read::records::{check_id, parse_timestamp, rating};
use crate::read::rows::Rows;
use crate::read::table::{is_comment, wrong_width};

/// What was found in a chunk.
pub(super) struct Chunk {
    pub user: IdChunk,
    pub item: IdChunk,
    pub rating: Option<Vec<f32>>,
    pub time: Option<Vec<i64>>,
    pub comments: usize,
    /// The lines are counted from 1 at the beginning of the chunk.
    pub skipped: SkippedRows,
    /// The number of lines.
    pub lines: u64,
    /// Where the last row ends; not before the end of the chunk.
    pub end: usize,
}

/// Why a chunk can't be parsed as it was meant to be.
#[derive(Debug)]
pub(super) enum Stop {
    /// A user id is not a small number.
    TextUser,
    /// An item id is not a small number.
    TextItem,
    /// There is an error, and it has to be reported in the order of the file.
    Bad(Box<BadRow>),
}

/// A row that can't be read, provided that the chunk begins with a row.
#[derive(Debug)]
pub(in crate::read) struct BadRow {
    /// Where the row begins.
    pub start: usize,
    /// The line of the error, counted from 1 at the beginning of the chunk.
    pub line: u64,
    pub error: InputError,
    /// Whether it has an opening quote and no closing one.
    pub open_quote: bool,
}

/// Parses the rows that begin within a range.
pub(super) fn parse(plan: &Plan<'_>, text: &str, range: Range<usize>, kinds: &Kinds) -> Result<Chunk, Stop> {
    let columns = &plan.layout.columns;
    let mut parser = Parser {
        plan,
        text,
        fields: Vec::new(),
        chunk: Chunk {
            user: IdChunk::new(&kinds.0, range.start),
            item: IdChunk::new(&kinds.1, range.start),
            rating: columns.rating.as_ref().map(|_| Vec::new()),
            time: columns.time.as_ref().map(|_| Vec::new()),
            comments: 0,
            skipped: SkippedRows::default(),
            lines: 0,
            end: range.start,
        },
    };
    let plain = PlainRow::new(plan.layout, kinds);
    while parser.chunk.end < range.end {
        match plain.as_ref().and_then(|plain| plain.parse(text.as_bytes(), parser.chunk.end)) {
            Some(fields) => parser.push_plain(&fields)?,
            None => parser.row()?,
        }
    }
    let mut chunk = parser.chunk;
    chunk.user.seal();
    chunk.item.seal();
    Ok(chunk)
}

struct Parser<'a> {
    plan: &'a Plan<'a>,
    text: &'a str,
    fields: Vec<Cow<'a, str>>,
    chunk: Chunk,
}

impl<'a> Parser<'a> {
    fn push_plain(&mut self, fields: &Fields) -> Result<(), Stop> {
        let chunk = &mut self.chunk;
        chunk.lines += 1;
        let start = std::mem::replace(&mut chunk.end, fields.end);
        let added = chunk.user.push_field(self.text, fields.user);
        let added = added.and_then(|()| chunk.item.push_field(self.text, fields.item));
        added.ok_or_else(|| too_long(start, chunk.lines))?;
        if let Some(rating) = &mut chunk.rating {
            rating.push(fields.rating);
        }
        if let Some(time) = &mut chunk.time {
            time.push(fields.time);
        }
        Ok(())
    }

    /// The next row, or an empty line, whatever it looks like.
    fn row(&mut self) -> Result<(), Stop> {
        let rest = &self.text[self.chunk.end..];
        let line_end = memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |end| end + 1);
        // One line, unless a quoted field may go on.
        let quoted = self.plan.layout.quotes && memchr(b'"', &rest.as_bytes()[..line_end]).is_some();
        let rest = if quoted { rest } else { &rest[..line_end] };
        let layout = self.plan.layout;
        let mut rows = Rows::at(self.plan.text, rest, self.chunk.lines, (layout.delimiter, layout.quotes));
        let mut fields = std::mem::take(&mut self.fields);
        let start = self.chunk.end;
        let bad = |line, error, open_quote| Stop::Bad(Box::new(BadRow { start, line, error, open_quote }));
        let found = rows.next_into(&mut fields);
        let (left, lines) = rows.left();
        // Nothing else than an unclosed quote is an error here.
        let found = found.map_err(|error| bad(lines, error, true))?;
        self.chunk.end += rest.len() - left;
        self.chunk.lines = lines;
        if let Some(line) = found
            && let Err(error) = self.push(&fields, start)?
        {
            if !self.plan.options.skip_bad_rows {
                return Err(bad(line, error, false));
            }
            self.chunk.skipped.add(line, &error);
        }
        self.fields = fields;
        Ok(())
    }

    /// Adds a row, unless it is a comment. The inner error is that of a bad row.
    fn push(&mut self, fields: &[Cow<'_, str>], start: usize) -> Result<Result<(), InputError>, Stop> {
        let Plan { text, layout, options } = self.plan;
        if is_comment(text, layout, fields) {
            self.chunk.comments += 1;
            return Ok(Ok(()));
        }
        if fields.len() != layout.width {
            return Ok(Err(wrong_width(layout, fields.len())));
        }
        let Columns { user, item, rating: rating_column, time: time_column, .. } = &layout.columns;
        let field = |column: &Column| &*fields[column.index];
        let checked = || -> Result<_, InputError> {
            check_id(field(user)).map_err(|e| e.field(&user.name))?;
            check_id(field(item)).map_err(|e| e.field(&item.name))?;
            let rating = rating_column.as_ref().map(|column| {
                rating(field(column), options.needs_ratings).map_err(|e| e.field(&column.name))
            });
            let rating = rating.transpose()?;
            let time = time_column
                .as_ref()
                .map(|column| parse_timestamp(field(column)).map_err(|e| e.field(&column.name)));
            Ok((rating, time.transpose()?))
        };
        let (rating, time) = match checked() {
            Ok(values) => values,
            Err(error) => return Ok(Err(error)),
        };
        let chunk = &mut self.chunk;
        let lines = chunk.lines;
        let stop = |ids: &IdChunk, text| match ids {
            IdChunk::Numbers(_) => text,
            IdChunk::Text(_) => too_long(start, lines),
        };
        chunk.user.push_text(field(user)).ok_or_else(|| stop(&chunk.user, Stop::TextUser))?;
        chunk.item.push_text(field(item)).ok_or_else(|| stop(&chunk.item, Stop::TextItem))?;
        if let (Some(all), Some(rating)) = (&mut chunk.rating, rating) {
            all.push(rating);
        }
        if let (Some(all), Some(time)) = (&mut chunk.time, time) {
            all.push(time);
        }
        Ok(Ok(()))
    }
}

/// The end of a chunk whose ids take more than fits into it.
fn too_long(start: usize, line: u64) -> Stop {
    let error = InputError::new("the ids are too long").help("give shorter ids");
    Stop::Bad(Box::new(BadRow { start, line, error, open_quote: false }))
}
