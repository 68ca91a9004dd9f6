//! A table of pairs in a prepared folder: `train.tsv`, `valid.tsv` or `test.tsv`.
//!
//! Rivalry wrote it, sorted by user and item. Whatever else is found there is damage.

use std::io::{Write, sink};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::lines::{Lines, pair, split};
use crate::dataset::{DataChecksum, put_row};
use crate::error::{Error, Result};
use crate::files::checksum::ChecksumWriter;
use crate::prepared_blocks::{Block, BlockFinder, USERS};
use crate::prepared_checksums::PreparedChecksums;

const HEADER: &[u8] = b"user_procid\titem_procid\n";

/// A table of pairs, of which the rows of any users can be read.
#[derive(Clone, Debug)]
pub(super) struct PairsFile {
    path: PathBuf,
    /// The number of users and items.
    size: (usize, usize),
    /// Where the pairs of each block of users are.
    blocks: Vec<Block>,
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

    /// From the number of items of each user.
    pub fn new(of_users: impl Iterator<Item = u32>, items: Vec<u32>) -> Self {
        let mut end = 0;
        let ends = of_users.map(|count| {
            end += count as usize;
            end
        });
        Self { offsets: [0].into_iter().chain(ends).collect(), items }
    }
}

impl PairsFile {
    /// A table whose blocks are known; `None` if they are not those of so many users.
    pub fn known((folder, name): (&Path, &str), size: (usize, usize), blocks: &[Block]) -> Option<Self> {
        let is_complete =
            blocks.len() == size.0.div_ceil(USERS) && blocks.is_sorted_by_key(|block| block.start);
        is_complete.then(|| Self { path: folder.join(name), size, blocks: blocks.to_vec() })
    }

    /// Counts the pairs of a table, and adds its rows to the checksum of the data set.
    ///
    /// # Errors
    /// If the file can't be read or is damaged.
    pub fn count(
        (folder, name): (&Path, &str),
        size: (usize, usize),
        checksums: &PreparedChecksums,
        data: &mut DataChecksum,
    ) -> Result<(Self, Counts)> {
        let (path, (n_users, n_items)) = (folder.join(name), size);
        let damaged = || -> Error { PreparedChecksums::damaged().file(&path).into() };
        let mut counts = Counts::none(size);
        let mut rows = Rows { data, user: 0, row: Vec::new(), bytes: Vec::new() };
        let (mut sum, mut blocks) = (ChecksumWriter::new(sink()), BlockFinder::new(HEADER.len()));
        let (mut lines, mut is_first) = (Lines::open(&path)?, true);
        while let Some(some) = lines.read()? {
            sum.write_all(some).map_err(|e| Error::io("read", &path, e))?;
            let some = if is_first { some.strip_prefix(HEADER).ok_or_else(damaged)? } else { some };
            is_first = false;
            // The lines of one block of users are added at once.
            let (mut begun, mut place, mut block) = (0, 0, 0);
            for line in split(some) {
                let within =
                    |&(user, item): &(u32, u32)| (user as usize) < n_users && (item as usize) < n_items;
                let next = pair(line).filter(within).filter(|&pair| rows.comes_next(pair));
                let (user, item) = next.ok_or_else(damaged)?;
                if user as usize / USERS != block {
                    if begun < place {
                        blocks.add(block * USERS, &some[begun..place]);
                    }
                    (begun, block) = (place, user as usize / USERS);
                }
                place += line.len();
                rows.add(user, item);
                counts.offsets[user as usize + 1] += 1;
                counts.items[item as usize] += 1;
            }
            if begun < place {
                blocks.add(block * USERS, &some[begun..place]);
            }
        }
        checksums.check_sum(name, &sum.into_inner().1).map_err(|fault| fault.file(&path))?;
        rows.finish(n_users);
        for user in 0..n_users {
            counts.offsets[user + 1] += counts.offsets[user];
        }
        Ok((Self { path, size, blocks: blocks.finish(n_users) }, counts))
    }

    /// The blocks that one of several processes counts: about as many bytes for each.
    pub fn blocks_of_rank(&self, rank: usize, ranks: usize) -> Range<usize> {
        let starts = |from: u128| {
            let last = self.blocks.last().map_or(0, |block| u128::from(block.start));
            self.blocks.partition_point(|block| u128::from(block.start) * (ranks as u128) < from * (last + 1))
        };
        starts(rank as u128)..starts(rank as u128 + 1)
    }

    /// The users of these blocks.
    pub fn users_of(&self, blocks: &Range<usize>) -> Range<usize> {
        self.size.0.min(blocks.start * USERS)..self.size.0.min(blocks.end * USERS)
    }

    /// The number of pairs of each user of these blocks, and of each item in them.
    ///
    /// # Errors
    /// If the file can't be read or is damaged there.
    pub fn count_blocks(&self, blocks: Range<usize>) -> Result<(Vec<u32>, Vec<u32>)> {
        let users = self.users_of(&blocks);
        let (mut of_users, mut of_items) = (vec![0; users.len()], vec![0; self.size.1]);
        self.read(blocks, &mut |user, item| {
            of_users[user - users.start] += 1;
            of_items[item as usize] += 1;
        })?;
        Ok((of_users, of_items))
    }

    /// The items of these users, one user after another; `offsets` are those that were counted.
    ///
    /// # Errors
    /// If the file can't be read, or has changed since.
    pub fn items(&self, users: Range<usize>, offsets: &[usize]) -> Result<Vec<u32>> {
        let wanted = offsets[users.end] - offsets[users.start];
        let mut items = Vec::with_capacity(wanted);
        let end = if users.is_empty() { users.start / USERS } else { users.end.div_ceil(USERS) };
        self.read(users.start / USERS..end, &mut |user, item| {
            if users.contains(&user) {
                items.push(item);
            }
        })?;
        if items.len() != wanted {
            return Err(self.damaged());
        }
        Ok(items)
    }

    /// Reads the pairs of some blocks, in their order, and checks them.
    fn read(&self, blocks: Range<usize>, pairs: &mut dyn FnMut(usize, u32)) -> Result<()> {
        if blocks.is_empty() {
            return Ok(());
        }
        let mut lines = Lines::open(&self.path)?;
        if blocks.start == 0 {
            lines.go_to(0..HEADER.len() as u64)?;
            if lines.read()? != Some(HEADER) {
                return Err(self.damaged());
            }
        }
        for number in blocks {
            let Block { start, checksum } = &self.blocks[number];
            let end = self.blocks.get(number + 1).map_or(u64::MAX, |next| next.start);
            let users = self.users_of(&(number..number + 1));
            let (mut sum, mut last) = (ChecksumWriter::new(sink()), None);
            lines.go_to(*start..end)?;
            while let Some(some) = lines.read()? {
                sum.write_all(some).map_err(|e| Error::io("read", &self.path, e))?;
                for line in split(some) {
                    let is_next = |pair: &(u32, u32)| {
                        let (user, item) = (pair.0 as usize, pair.1 as usize);
                        users.contains(&user) && item < self.size.1 && last.is_none_or(|last| last < *pair)
                    };
                    let pair = pair(line).filter(is_next).ok_or_else(|| self.damaged())?;
                    last = Some(pair);
                    pairs(pair.0 as usize, pair.1);
                }
            }
            if sum.into_inner().1 != *checksum {
                return Err(self.damaged());
            }
        }
        Ok(())
    }

    fn damaged(&self) -> Error {
        PreparedChecksums::damaged().file(&self.path).into()
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
