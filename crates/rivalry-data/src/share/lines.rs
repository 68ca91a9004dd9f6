//! The lines of a table of pairs, some at a time.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use crate::{Error, Result};

/// Bytes that are read at a time.
const BLOCK: u64 = 1 << 20;

/// A file, some whole lines at a time.
pub(super) struct Lines<'p> {
    path: &'p Path,
    file: File,
    /// Bytes that are still to be read.
    left: u64,
    /// The present lines, and the beginning of the next.
    bytes: Vec<u8>,
    /// Where the present lines end among these.
    end: usize,
}

impl<'p> Lines<'p> {
    /// All lines of a file.
    pub fn open(path: &'p Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io("read", path, e))?;
        Ok(Self { path, file, left: u64::MAX, bytes: Vec::new(), end: 0 })
    }

    /// Goes on with the lines in this range of bytes, which may reach beyond the end of the file.
    pub fn go_to(&mut self, range: Range<u64>) -> Result<()> {
        self.file.seek(SeekFrom::Start(range.start)).map_err(|e| Error::io("read", self.path, e))?;
        self.bytes.clear();
        (self.left, self.end) = (range.end - range.start, 0);
        Ok(())
    }

    /// The next lines; `None` at the end. The last line may lack its end.
    pub fn read(&mut self) -> Result<Option<&[u8]>> {
        self.bytes.drain(..self.end);
        loop {
            let some = self.left.min(BLOCK);
            let read = self.file.by_ref().take(some).read_to_end(&mut self.bytes);
            let read = read.map_err(|e| Error::io("read", self.path, e))? as u64;
            self.left -= read;
            let lines = self.bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
            self.end = if read == 0 { self.bytes.len() } else { lines };
            if self.end > 0 || read == 0 {
                return Ok((self.end > 0).then_some(&self.bytes[..self.end]));
            }
        }
    }
}

/// Each line, with its end.
pub(super) fn split(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines.split_inclusive(|&byte| byte == b'\n')
}

/// The pair of a line, with its end; `None` if it is none.
pub(super) fn pair(line: &[u8]) -> Option<(u32, u32)> {
    let line = line.strip_suffix(b"\n")?;
    let tab = line.iter().position(|&byte| byte == b'\t')?;
    Some((number(&line[..tab])?, number(&line[tab + 1..])?))
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
    fn whole_lines_are_read_and_are_pairs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pairs");
        let texts: Vec<String> = (0..300_000).map(|n| format!("{n}\t{}\n", 7 * n)).collect();
        std::fs::write(&path, texts.concat()).unwrap();
        let place = |line: usize| texts[..line].iter().map(|text| text.len() as u64).sum::<u64>();
        let mut lines = Lines::open(&path).unwrap();
        for (bytes, expected) in [
            (0..u64::MAX, 0..300_000),
            (place(1)..u64::MAX, 1..300_000),
            (place(7)..place(200_000), 7..200_000),
            (place(3)..place(3), 3..3),
        ] {
            lines.go_to(bytes).unwrap();
            let mut next = expected.start;
            while let Some(some) = lines.read().unwrap() {
                for line in split(some) {
                    assert_eq!(pair(line), Some((next, 7 * next)));
                    next += 1;
                }
            }
            assert_eq!(next, expected.end);
        }
    }

    #[test]
    fn what_is_no_pair_is_found() {
        let lines = b"4294967295\t0\n4294967296\t0\n1 2\n1\t\n1\t2\t3\n-1\t2\n5\t6";
        let found: Vec<_> = split(lines).map(pair).collect();
        assert_eq!(found, [Some((u32::MAX, 0)), None, None, None, None, None, None]);
    }
}
