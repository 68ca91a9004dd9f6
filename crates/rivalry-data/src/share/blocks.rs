//! The lines of a table of pairs, some at a time.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::{Error, Result};

/// Bytes that are read at a time.
const BLOCK: u64 = 1 << 20;

/// A file, read in blocks of whole lines.
pub(super) struct Blocks<'p> {
    path: &'p Path,
    file: File,
    /// Where the block starts.
    start: u64,
    /// The block, and the beginning of the next.
    bytes: Vec<u8>,
    /// Where the block ends among these.
    end: usize,
}

impl<'p> Blocks<'p> {
    /// Starts at the beginning of a line.
    pub fn open(path: &'p Path, start: u64) -> Result<Self> {
        let failed = |e| Error::io("read", path, e);
        let mut file = File::open(path).map_err(failed)?;
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        Ok(Self { path, file, start, bytes: Vec::new(), end: 0 })
    }

    /// The next lines, and where they start; `None` at the end of the file. The last line may lack its end.
    pub fn next_lines(&mut self) -> Result<Option<(u64, &[u8])>> {
        self.start += self.end as u64;
        self.bytes.drain(..self.end);
        loop {
            let read = self.file.by_ref().take(BLOCK).read_to_end(&mut self.bytes);
            let is_last = read.map_err(|e| Error::io("read", self.path, e))? == 0;
            let lines = self.bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
            self.end = if is_last { self.bytes.len() } else { lines };
            if self.end > 0 || is_last {
                return Ok((self.end > 0).then_some((self.start, &self.bytes[..self.end])));
            }
        }
    }
}

/// The pair of each line, without a header; `None` where a line is none.
pub(super) fn pairs(lines: &[u8]) -> impl Iterator<Item = Option<(u32, u32)>> + '_ {
    lines.split_inclusive(|&byte| byte == b'\n').map(|line| {
        let line = line.strip_suffix(b"\n")?;
        let tab = line.iter().position(|&byte| byte == b'\t')?;
        Some((number(&line[..tab])?, number(&line[tab + 1..])?))
    })
}

fn number(digits: &[u8]) -> Option<u32> {
    let add = |number: u32, byte: &u8| {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 { number.checked_mul(10)?.checked_add(digit.into()) } else { None }
    };
    if digits.is_empty() { None } else { digits.iter().try_fold(0, add) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_whole_lines_and_lines_are_pairs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pairs");
        let lines: String = (0..300_000).map(|n| format!("{n}\t{}\n", 7 * n)).collect();
        std::fs::write(&path, &lines).unwrap();
        let mut blocks = Blocks::open(&path, 4).unwrap();
        let (mut next, mut place) = (1, 4);
        while let Some((start, lines)) = blocks.next_lines().unwrap() {
            assert_eq!(start, place);
            place += lines.len() as u64;
            for pair in pairs(lines) {
                assert_eq!(pair, Some((next, 7 * next)));
                next += 1;
            }
        }
        assert_eq!((next, place), (300_000, lines.len() as u64));
    }

    #[test]
    fn what_is_no_pair_is_found() {
        let found: Vec<_> = pairs(b"4294967295\t0\n4294967296\t0\n1 2\n1\t\n1\t2\t3\n-1\t2\n5\t6").collect();
        assert_eq!(found, [Some((u32::MAX, 0)), None, None, None, None, None, None]);
    }
}
