//! A table of pairs in a prepared folder: `train.tsv`, `valid.tsv` or `test.tsv`.
//!
//! Rivalry wrote it, sorted by user and item. Whatever else is found there is damage.

use std::io::{Write, sink};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::blocks::{Blocks, pairs};
use crate::dataset::{DataChecksum, put_row};
use crate::error::{Error, Result};
use crate::files::checksum::ChecksumWriter;
use crate::prepared_checksums::PreparedChecksums;

const HEADER: &[u8] = b"user_procid\titem_procid\n";

/// A table of pairs, of which the rows of any users can be read.
#[derive(Clone, Debug)]
pub(super) struct PairsFile {
    path: PathBuf,
    /// The first user of each block, and where it starts.
    marks: Vec<(u32, u64)>,
}

/// How many pairs there are.
pub(super) struct Counts {
    /// Where each user's items begin in the list of all; one more for the end.
    pub offsets: Vec<usize>,
    /// The number of users of each item.
    pub items: Vec<u32>,
}

impl Counts {
    /// Of an empty table of so many users and items.
    pub fn none((n_users, n_items): (usize, usize)) -> Self {
        Self { offsets: vec![0; n_users + 1], items: vec![0; n_items] }
    }
}

impl PairsFile {
    /// Counts the pairs of a table, and adds its rows to the checksum of the data set.
    ///
    /// # Errors
    /// If the file can't be read or is damaged.
    pub fn count(
        (folder, name): (&Path, &str),
        (n_users, n_items): (usize, usize),
        checksums: &PreparedChecksums,
        data: &mut DataChecksum,
    ) -> Result<(Self, Counts)> {
        let path = folder.join(name);
        let (mut marks, mut counts) = (Vec::new(), Counts::none((n_users, n_items)));
        let mut rows = Rows { data, user: 0, row: Vec::new(), bytes: Vec::new() };
        let mut sum = ChecksumWriter::new(sink());
        let mut blocks = Blocks::open(&path, 0)?;
        while let Some((start, lines)) = blocks.next_lines()? {
            sum.write_all(lines).map_err(|e| Error::io("read", &path, e))?;
            let (lines, start) = match lines.strip_prefix(HEADER) {
                Some(rest) if start == 0 => (rest, HEADER.len() as u64),
                _ => (lines, start),
            };
            for (number, pair) in pairs(lines).enumerate() {
                let within =
                    |&(user, item): &(u32, u32)| (user as usize) < n_users && (item as usize) < n_items;
                let Some((user, item)) = pair.filter(within).filter(|&pair| rows.comes_next(pair)) else {
                    return Err(PreparedChecksums::damaged().file(&path).into());
                };
                if number == 0 {
                    marks.push((user, start));
                }
                rows.add(user, item);
                counts.offsets[user as usize + 1] += 1;
                counts.items[item as usize] += 1;
            }
        }
        checksums.check_sum(name, &sum.into_inner().1).map_err(|fault| fault.file(&path))?;
        rows.finish(n_users);
        for user in 0..n_users {
            counts.offsets[user + 1] += counts.offsets[user];
        }
        Ok((Self { path, marks }, counts))
    }

    /// The items of these users, one user after another; `offsets` are those that were counted.
    ///
    /// # Errors
    /// If the file can't be read, or has changed since.
    pub fn items(&self, users: Range<usize>, offsets: &[usize]) -> Result<Vec<u32>> {
        let wanted = offsets[users.end] - offsets[users.start];
        let mut items = Vec::with_capacity(wanted);
        // Lines of the first user may begin in the block before the one that starts with them.
        let mark = self.marks.partition_point(|(user, _)| (*user as usize) < users.start).saturating_sub(1);
        let start = self.marks.get(mark).map_or(0, |(_, start)| *start);
        let mut blocks = Blocks::open(&self.path, start)?;
        while items.len() < wanted
            && let Some((_, lines)) = blocks.next_lines()?
        {
            let theirs = pairs(lines).flatten().filter(|(user, _)| users.contains(&(*user as usize)));
            items.extend(theirs.map(|(_, item)| item).take(wanted - items.len()));
        }
        if items.len() != wanted {
            return Err(PreparedChecksums::damaged().file(&self.path).into());
        }
        Ok(items)
    }
}

/// Rows on their way into a checksum.
struct Rows<'d> {
    data: &'d mut DataChecksum,
    /// The present user, and their items so far.
    user: u32,
    row: Vec<u32>,
    bytes: Vec<u8>,
}

impl Rows<'_> {
    fn comes_next(&self, (user, item): (u32, u32)) -> bool {
        user > self.user || user == self.user && self.row.last().is_none_or(|last| *last < item)
    }

    fn add(&mut self, user: u32, item: u32) {
        self.end_rows_before(user as usize);
        self.row.push(item);
    }

    fn end_rows_before(&mut self, user: usize) {
        while (self.user as usize) < user {
            self.bytes.clear();
            put_row(&self.row, &mut self.bytes);
            self.data.add(&self.bytes);
            self.row.clear();
            self.user += 1;
        }
    }

    fn finish(mut self, n_users: usize) {
        self.end_rows_before(n_users);
    }
}
