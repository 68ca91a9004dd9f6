//! Text tables: CSV, TSV or any delimiter.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::head::{Head, failed, is_zip_file};
use super::{Blocks, Streamed};
use crate::memory::MemoryLimit;
use crate::read::parallel::{self, BadRow, Failure, Joined, NextBlock, Plan, Sizes};
use crate::read::reading::SkippedRows;
use crate::read::records::none_read;
use crate::read::rows::Rows;
use crate::read::source::{Source, Text, to_text};
use crate::read::table::{Layout, no_interaction};
use crate::read::{Format, ReadOptions, csv, recognise};
use crate::{Error, InputError, Result};

/// How many times as long as its file a text is taken to be if the file is compressed.
const EXPANSION: u64 = 8;
/// How long a quoted field may be if it goes beyond its block.
const LONGEST_FIELD: usize = 1 << 26;

/// A table whose layout is known.
pub(super) struct TextTable {
    pub layout: Layout,
    /// The first row, if it holds the names of the columns.
    header: Vec<String>,
    /// The first file with something in it.
    first: PathBuf,
    notes: Vec<String>,
    /// The size of all files.
    bytes: u64,
}

impl TextTable {
    /// Whether a file is a table that can be read some rows at a time.
    pub fn recognise(path: &Path, requested: Option<&'static Format>, options: &ReadOptions) -> Result<bool> {
        if is_zip_file(path)? {
            return Ok(false);
        }
        let format = match requested {
            Some(format) => format,
            None => match Head::open(path, Sizes::default(), MemoryLimit::default())? {
                Some(head) => recognise(path, &Source::Text(head.text), options)?,
                None => return Ok(false),
            },
        };
        Ok(format.name == csv::FORMAT.name)
    }

    /// Finds the layout in the first file with something in it, and estimates the number of rows.
    pub fn open(files: &[PathBuf], options: &ReadOptions) -> Result<(Self, u64)> {
        for first in files {
            let Some(head) = Head::open(first, Sizes::default(), MemoryLimit::default())? else { continue };
            let layout = csv::layout(&head.text, options)?;
            let header = if layout.header { header(&head.text, &layout)? } else { Vec::new() };
            let bytes = files.iter().map(|file| size(file)).sum::<Result<u64>>()?;
            let expanded = if head.text.compression.is_some() { EXPANSION * bytes } else { bytes };
            let lines = head.text.text.lines().count().max(1) as u64;
            let rows = expanded / (head.text.text.len() as u64 / lines).max(1);
            let notes = csv::guessed_columns(&head.text, &layout).into_iter().collect();
            return Ok((Self { layout, header, first: first.clone(), notes, bytes }, rows));
        }
        let error =
            InputError::new("the file is empty").file(files.first().map_or(Path::new(""), |file| file));
        Err(error.help("give a file with interactions").into())
    }

    /// Reads the rows of all files in order.
    pub fn read(
        &self,
        files: &[PathBuf],
        options: &ReadOptions,
        blocks: &mut Blocks<'_>,
    ) -> Result<Streamed> {
        let mut joined = Joined::new(&self.layout, 0);
        let mut reading = None;
        let (mut comments, mut skipped) = (0, SkippedRows::default());
        blocks.total = self.bytes;
        for file in files {
            let done = blocks.done;
            let Some(head) = Head::open(file, blocks.sizes.text(), blocks.sizes.memory)? else { continue };
            reading.get_or_insert_with(|| self.layout.reading(csv::FORMAT.name, &head.text));
            comments += head.text.comments;
            self.read_file(head, &mut joined, options, blocks)?;
            let mut of_file = joined.take_skipped();
            if files.len() > 1 {
                of_file.name_file(file);
            }
            skipped.extend(of_file);
            blocks.done = done + size(file)?;
        }
        let parsed = joined.into_parsed();
        let mut reading = reading.unwrap_or_default();
        reading.comments = comments + parsed.table.comments;
        if blocks.rows == 0 {
            return Err(none_read(&skipped).unwrap_or_else(no_interaction).file(&self.first).into());
        }
        reading.skipped = skipped;
        Ok(Streamed { users: parsed.users, items: parsed.items, notes: self.notes.clone(), reading })
    }

    fn read_file(
        &self,
        head: Head,
        joined: &mut Joined,
        options: &ReadOptions,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let Head { text, rest, read } = head;
        let mut rows = Rows::new(&text, self.layout.delimiter, self.layout.quotes);
        if self.layout.header {
            rows.next_into(&mut Vec::new())?;
            self.check_header(&text)?;
        }
        let (left, line) = rows.left();
        joined.begin_file(line);
        let plan = Plan { text: &text, layout: &self.layout, options };
        let before = blocks.done;
        let mut reader = parallel::Blocks::new(rest, text.sizes.block);
        let mut block = text.text[text.text.len() - left..].to_owned();
        loop {
            let lines = joined.line();
            // The next block is read while one is parsed.
            let (next, added) = rayon::join(|| reader.next(Vec::new()), || add(joined, &plan, &block));
            let next = next.map_err(|e| failed(&text.name, text.compression, e))?;
            let open = added.map_err(|failure| error_of(failure, lines).file(&text.name))?;
            blocks.done = before + read.load(Ordering::Relaxed);
            let ids = joined.id_bytes();
            blocks.push(joined.take(blocks.sizes.numbers), ids)?;
            block = match (next, open) {
                (NextBlock::Lines(next), None) => next,
                (NextBlock::Lines(next), Some(row)) if block.len() - row.start < LONGEST_FIELD => {
                    block[row.start..].to_owned() + &next
                }
                (NextBlock::Unusual(bytes), open) => {
                    let pending = open.map_or("", |row| &block[row.start..]);
                    let lines = joined.line() + pending.matches('\n').count() as u64;
                    let error = to_text(bytes, lines).err().unwrap_or_else(|| InputError::new("not text"));
                    return Err(error.file(&text.name).into());
                }
                (_, Some(row)) => {
                    return Err(error_of(Failure::Bad(row), lines).file(&text.name).into());
                }
                (NextBlock::End, None) => return Ok(()),
            };
        }
    }

    /// Refuses a part whose columns are not those of the first.
    fn check_header(&self, text: &Text) -> Result<()> {
        let found = header(text, &self.layout)?;
        if found == self.header {
            return Ok(());
        }
        Err(other_columns(&found, (&self.first, &self.header)).file(&text.name).line(1).into())
    }
}

/// The error for a part with other columns than the first.
pub(in crate::read) fn other_columns(found: &[String], (first, expected): (&Path, &[String])) -> InputError {
    let first = first.file_name().unwrap_or_default().display();
    let message =
        format!("the columns are {}, but those of {first} are {}", found.join(", "), expected.join(", "));
    InputError::new(message)
        .help("the files of a folder are read as parts of one table: move others away, or give the path of one file")
}

/// Adds the rows of a block. A last row whose quoted field is not closed within the block is returned, since it may go on
/// in the next.
fn add(joined: &mut Joined, plan: &Plan<'_>, block: &str) -> Result<Option<Box<BadRow>>, Failure> {
    let mut rows = 0..block.len();
    if rows.is_empty() {
        return Ok(None);
    }
    let mut open = None;
    let failure = match joined.add(plan, block, rows.clone()) {
        Ok(_) => return Ok(None),
        Err(failure) => failure,
    };
    // Where quoted fields have line breaks, the block can't be parsed from anywhere but its beginning.
    if let Failure::Ids = failure {
        return Err(failure);
    }
    if let Err(failure) = joined.add_in_order(plan, block, rows.clone()) {
        match failure {
            Failure::Bad(row) if row.open_quote => {
                rows.end = row.start;
                open = Some(row);
            }
            failure => return Err(failure),
        }
        if !rows.is_empty() {
            joined.add_in_order(plan, block, rows)?;
        }
    }
    Ok(open)
}

/// The error in a block that begins after this many lines.
fn error_of(failure: Failure, lines: u64) -> InputError {
    match failure {
        Failure::Bad(row) => row.error.line(lines + row.line),
        Failure::Ids => InputError::new(format!("more than {} different ids", u32::MAX))
            .help("keep fewer users or items, for example by removing rare ones"),
    }
}

fn header(text: &Text, layout: &Layout) -> Result<Vec<String>> {
    let mut fields = Vec::new();
    Rows::new(text, layout.delimiter, layout.quotes).next_into(&mut fields)?;
    Ok(fields.into_iter().map(String::from).collect())
}

fn size(path: &Path) -> Result<u64> {
    Ok(fs::metadata(path).map_err(|e| Error::io("read", path, e))?.len())
}
