//! Reads tables of any size on all threads, a block at a time.
//!
//! A block is cut at line ends into chunks, which are parsed side by side ([`chunk`]) and joined in order ([`ids`]). Chunks are
//! cut at fixed places and joined in the order of the file, so ids, records and skipped rows are those of [`read_records`],
//! whatever the number of threads. Rows that are out of the ordinary go through the same functions as there. What is an
//! error for the whole file is left to it altogether: it reads the file from the beginning, and says what is wrong.
//!
//! [`read_records`]: super::table::read_records

mod blocks;
mod chunk;
mod ids;
mod numbers;
mod row;
mod shard;
mod shards;

use std::io::{Seek, SeekFrom};
use std::ops::Range;

use rayon::prelude::*;

pub(super) use self::blocks::{Blocks, NextBlock, Rest, Sizes};
use self::blocks::{block_end, cuts};
pub(super) use self::chunk::BadRow;
use self::chunk::{Chunk, Stop, parse};
pub(super) use self::ids::IdColumn;
use self::ids::Kinds;
#[cfg(feature = "parquet")]
pub(super) use self::ids::{IdChunk, Kind};
use super::ReadOptions;
use super::reading::SkippedRows;
use super::rows::Rows;
use super::source::Text;
use super::table::{Layout, TableRecords};
use crate::{Error, IdMap, Records, Result};

/// The rows of a table, and the original ids.
pub(super) struct Parsed {
    pub table: TableRecords,
    pub users: IdMap,
    pub items: IdMap,
}

/// What all chunks have to know.
pub(super) struct Plan<'a> {
    pub text: &'a Text,
    pub layout: &'a Layout,
    pub options: &'a ReadOptions,
}

/// Reads all rows of a table whose ids may be any text. `None` if that takes reading them one after the other.
pub(super) fn read(text: &Text, layout: &Layout, options: &ReadOptions) -> Result<Option<Parsed>> {
    #[cfg(test)]
    if text.sizes.chunk == 0 {
        return Ok(None); // to compare with
    }
    let plan = Plan { text, layout, options };
    let mut header = Rows::new(text, layout.delimiter, layout.quotes);
    if layout.header && header.next_into(&mut Vec::new()).is_err() {
        return Ok(None);
    }
    let (left, line) = header.left();
    let mut at = text.text.len() - left;
    let mut table = Joined::new(layout, line);
    while at < text.text.len() {
        let range = at..block_end(&text.text, at, text.sizes.block);
        match table.add(&plan, &text.text, range) {
            Ok(end) => at = end,
            Err(_) => return Ok(None),
        }
        if table.reconsider(text).is_none() {
            return Ok(None);
        }
    }
    if let Some(rest) = &text.rest {
        let failed = |e| Error::io("read", &text.name, e);
        (&rest.file).seek(SeekFrom::Start(rest.start)).map_err(failed)?;
        let mut blocks = Blocks::new(&rest.file, text.sizes.block);
        let (mut next, mut spare) = (blocks.next(Vec::new()).map_err(failed)?, Vec::new());
        // The next block is read while one is parsed.
        while let NextBlock::Lines(block) = next {
            let parse = || table.add(&plan, &block, 0..block.len());
            let (after, added) = rayon::join(|| blocks.next(std::mem::take(&mut spare)), parse);
            if added.is_err() || table.reconsider(text).is_none() {
                return Ok(None);
            }
            (next, spare) = (after.map_err(failed)?, block.into_bytes());
        }
        if let NextBlock::Unusual(_) = next {
            return Ok(None);
        }
    }
    Ok(table.finish())
}

/// Why a block can't be added.
pub(super) enum Failure {
    /// There is an error in it, but not necessarily this one: chunks may begin within a quoted field.
    Bad(Box<BadRow>),
    /// There are too many different ids.
    Ids,
}

/// The chunks joined so far.
pub(super) struct Joined {
    users: IdColumn,
    items: IdColumn,
    rating: Option<Vec<f32>>,
    time: Option<Vec<i64>>,
    comments: usize,
    skipped: SkippedRows,
    /// The number of lines before the next chunk.
    line: u64,
    /// The number of bytes read.
    bytes: usize,
}

impl Joined {
    /// Begins after this many lines.
    pub fn new(layout: &Layout, line: u64) -> Self {
        Self {
            users: IdColumn::default(),
            items: IdColumn::default(),
            rating: layout.columns.rating.as_ref().map(|_| Vec::new()),
            time: layout.columns.time.as_ref().map(|_| Vec::new()),
            comments: 0,
            skipped: SkippedRows::default(),
            line,
            bytes: 0,
        }
    }

    /// Adds the rows that begin within the range of a text, and returns where the last of them ends.
    pub fn add(&mut self, plan: &Plan<'_>, text: &str, range: Range<usize>) -> Result<usize, Failure> {
        self.add_cut(plan, text, &cuts(text, range, plan.text.sizes.chunk))
    }

    /// Does the same row by row, so that an error is the first one.
    pub fn add_in_order(
        &mut self,
        plan: &Plan<'_>,
        text: &str,
        range: Range<usize>,
    ) -> Result<usize, Failure> {
        self.add_cut(plan, text, &[range.start, range.end])
    }

    fn add_cut(&mut self, plan: &Plan<'_>, text: &str, cuts: &[usize]) -> Result<usize, Failure> {
        loop {
            let kinds = (self.users.kind(), self.items.kind());
            let chunks: Result<Vec<Chunk>, Stop> =
                cuts.par_windows(2).map(|cut| parse(plan, text, cut[0]..cut[1], &kinds)).collect();
            match chunks.and_then(|chunks| in_line(plan, text, chunks, (cuts, &kinds))) {
                Ok(chunks) => {
                    let end = self.append(text, chunks).ok_or(Failure::Ids)?;
                    self.bytes += end - cuts[0];
                    return Ok(end);
                }
                Err(Stop::TextUser) => self.users.use_text().ok_or(Failure::Ids)?,
                Err(Stop::TextItem) => self.items.use_text().ok_or(Failure::Ids)?,
                Err(Stop::Bad(row)) => return Err(Failure::Bad(row)),
            }
        }
    }

    /// Goes on with another file, after this many of its lines.
    pub fn begin_file(&mut self, line: u64) {
        self.line = line;
    }

    /// The number of lines before the next chunk.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Takes out the rows so far; for `limit` see [`IdColumn::take`].
    pub fn take(&mut self, limit: usize) -> Records {
        let (user, item) = rayon::join(|| self.users.take(limit), || self.items.take(limit));
        let (rating, time) =
            (self.rating.as_mut().map(std::mem::take), self.time.as_mut().map(std::mem::take));
        Records { user, item, rating, time }
    }

    /// About how much memory the different ids take.
    pub fn id_bytes(&self) -> usize {
        self.users.bytes() + self.items.bytes()
    }

    /// Takes the rows that were left out so far.
    pub fn take_skipped(&mut self) -> SkippedRows {
        std::mem::take(&mut self.skipped)
    }

    /// Reads ids as text from here on where numbers are too far apart for the number of rows to be expected.
    fn reconsider(&mut self, text: &Text) -> Option<()> {
        let all = text.text.len() as f64 + text.rest.as_ref().map_or(0, |rest| rest.length) as f64;
        let rows = (self.users.len() as f64 * all / self.bytes.max(1) as f64) as usize;
        for column in [&mut self.users, &mut self.items] {
            if column.is_sparse(rows) {
                column.use_text()?;
            }
        }
        Some(())
    }

    /// Adds the chunks of a block, and returns where the last of them ends.
    fn append(&mut self, text: &str, mut chunks: Vec<Chunk>) -> Option<usize> {
        let end = chunks.last().map_or(0, |chunk| chunk.end);
        for chunk in &mut chunks {
            if let (Some(all), Some(rating)) = (&mut self.rating, &mut chunk.rating) {
                all.append(rating);
            }
            if let (Some(all), Some(time)) = (&mut self.time, &mut chunk.time) {
                all.append(time);
            }
            self.comments += chunk.comments;
            chunk.skipped.first.iter_mut().for_each(|row| row.line += self.line);
            self.skipped.extend(std::mem::take(&mut chunk.skipped));
            self.line += chunk.lines;
        }
        let (users, items): (Vec<_>, Vec<_>) =
            chunks.into_iter().map(|chunk| (chunk.user, chunk.item)).unzip();
        let added = rayon::join(|| self.users.append(text, users), || self.items.append(text, items));
        (added == (Some(()), Some(()))).then_some(end)
    }

    /// The table; `None` if it is empty.
    fn finish(self) -> Option<Parsed> {
        let parsed = self.into_parsed();
        (!parsed.table.records.user.is_empty()).then_some(parsed)
    }

    /// The rows that were not taken out, and the original ids of all.
    pub fn into_parsed(self) -> Parsed {
        let Self { users, items, rating, time, comments, skipped, .. } = self;
        let ((user, users), (item, items)) = rayon::join(|| users.finish(), || items.finish());
        let records = Records { user, item, rating, time };
        Parsed { table: TableRecords { records, skipped, comments }, users, items }
    }
}

/// Makes every chunk begin where the one before it ends. Where a quoted field contains line breaks, that may be after its
/// cut.
fn in_line(
    plan: &Plan<'_>,
    text: &str,
    mut chunks: Vec<Chunk>,
    (cuts, kinds): (&[usize], &Kinds),
) -> Result<Vec<Chunk>, Stop> {
    let mut end = cuts.first().copied().unwrap_or(0);
    for (chunk, cut) in chunks.iter_mut().zip(cuts.windows(2)) {
        if end != cut[0] {
            *chunk = parse(plan, text, end..cut[1].max(end), kinds)?;
        }
        end = chunk.end;
    }
    Ok(chunks)
}
