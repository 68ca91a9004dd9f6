//! `blocks.txt`: where the pairs of each block of users are in the tables of a prepared data set, and their checksums.
//!
//! A process that needs the pairs of some users reads and checks their blocks alone. The list also has the checksum of the whole
//! data set, which holds once all blocks have been checked, by one process or by several together.

use std::collections::BTreeMap;
use std::io::{Sink, Write, sink};
use std::path::Path;

use crate::files::checksum::{ChecksumWriter, TextFormat};
use crate::prepared_checksums::PreparedChecksums;
use crate::{Error, Result};

const FORMAT: TextFormat = TextFormat { name: "rivalry-blocks", version: 1 };

/// The users of a block: the first so many, the next, and so on.
pub(crate) const USERS: usize = 256;

/// The pairs of a block of users in a table. They end where the next block starts, or with the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The place of their first byte.
    pub start: u64,
    /// The checksum of their lines.
    pub checksum: String,
}

/// The blocks of each table, and the checksum of the data set.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PreparedBlocks {
    /// The [`Dataset::checksum`](crate::Dataset::checksum).
    pub data: String,
    /// By the name of the file.
    pub tables: BTreeMap<String, Vec<Block>>,
}

impl PreparedBlocks {
    /// The name of the list.
    pub const FILE: &'static str = "blocks.txt";

    /// The content of the list.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut lines = format!("data\t{}\t{USERS}\n", self.data);
        for (name, blocks) in &self.tables {
            blocks
                .iter()
                .for_each(|block| lines += &format!("{name}\t{}\t{}\n", block.start, block.checksum));
        }
        FORMAT.comment(lines)
    }

    /// Reads the list of a folder; `None` if it has none, or one with other blocks.
    ///
    /// # Errors
    /// If the list can't be read, or is damaged.
    pub fn read(folder: &Path, checksums: &PreparedChecksums) -> Result<Option<Self>> {
        let path = folder.join(Self::FILE);
        if !checksums.lists(Self::FILE) || !path.is_file() {
            return Ok(None);
        }
        let content = std::fs::read(&path).map_err(|e| Error::io("read", &path, e))?;
        checksums.check(Self::FILE, &content).map_err(|fault| fault.file(&path))?;
        Ok(Self::parse(&String::from_utf8_lossy(&content)))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let head = format!("# {} {},", FORMAT.name, FORMAT.version);
        lines.next()?.starts_with(&head).then_some(())?;
        let data = lines.next()?.strip_prefix("data\t")?.strip_suffix(&format!("\t{USERS}"))?.to_owned();
        let mut tables: BTreeMap<String, Vec<Block>> = BTreeMap::new();
        for line in lines {
            let mut fields = line.split('\t');
            let (name, start, checksum) = (fields.next()?, fields.next()?.parse().ok()?, fields.next()?);
            tables.entry(name.to_owned()).or_default().push(Block { start, checksum: checksum.to_owned() });
        }
        Some(Self { data, tables })
    }
}

/// Finds the blocks of a table that is written or read from its beginning to its end.
pub(crate) struct BlockFinder {
    blocks: Vec<Block>,
    /// The checksum of the last block so far.
    sum: ChecksumWriter<Sink>,
    /// The bytes so far.
    len: u64,
}

impl BlockFinder {
    /// Of a table whose first pair comes after so many bytes.
    pub fn new(header: usize) -> Self {
        Self { blocks: Vec::new(), sum: ChecksumWriter::new(sink()), len: header as u64 }
    }

    /// Goes on with the lines of users of one block, or with a part of these.
    pub fn add(&mut self, user: usize, lines: &[u8]) {
        self.begin_up_to(user / USERS + 1);
        // A sink takes everything.
        let _ = self.sum.write_all(lines);
        self.len += lines.len() as u64;
    }

    /// The blocks of all users.
    pub fn finish(mut self, n_users: usize) -> Vec<Block> {
        self.begin_up_to(n_users.div_ceil(USERS));
        self.end_block();
        self.blocks
    }

    fn begin_up_to(&mut self, count: usize) {
        while self.blocks.len() < count {
            self.end_block();
            self.blocks.push(Block { start: self.len, checksum: String::new() });
        }
    }

    fn end_block(&mut self) {
        let sum = std::mem::replace(&mut self.sum, ChecksumWriter::new(sink()));
        if let Some(block) = self.blocks.last_mut() {
            block.checksum = sum.into_inner().1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::checksum::checksum;

    #[test]
    fn blocks_are_found_whatever_the_pieces() {
        let block = |start, lines: &[u8]| Block { start, checksum: checksum(lines) };
        let expected = [block(24, b"0\t1\n255\t7\n"), block(34, b""), block(34, b"512\t3\n"), block(40, b"")];
        let mut finder = BlockFinder::new(24);
        finder.add(0, b"0\t1\n");
        finder.add(255, b"255\t7\n");
        finder.add(512, b"512\t3\n");
        assert_eq!(finder.finish(3 * USERS + 1), expected);
        assert_eq!(BlockFinder::new(24).finish(0), []);
    }

    #[test]
    fn lists_are_read_again_and_others_are_not() {
        let blocks =
            vec![Block { start: 24, checksum: checksum(b"x") }, Block { start: 9, checksum: checksum(b"y") }];
        let tables = [("train.tsv".to_owned(), blocks.clone()), ("test.tsv".to_owned(), blocks)].into();
        let list = PreparedBlocks { data: "abc".into(), tables };
        let text = String::from_utf8(list.to_bytes()).unwrap();
        assert_eq!(PreparedBlocks::parse(&text), Some(list));
        for (from, to) in [("blocks 1", "blocks 2"), ("\t256\n", "\t512\n"), ("\t24\t", "\t-\t")] {
            assert_eq!(PreparedBlocks::parse(&text.replace(from, to)), None, "{from}");
        }
    }
}
