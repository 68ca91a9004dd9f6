//! Where a text is cut, and the blocks of a file that is read as it is parsed.

use std::fs::File;
use std::io::Read;
use std::ops::Range;

use memchr::{memchr, memrchr};

/// How much is read and parsed at a time, in bytes.
#[derive(Clone, Copy, Debug)]
pub(in crate::read) struct Sizes {
    /// Of a file, before its format is recognised. Smaller files are read as a whole.
    pub head: usize,
    /// At a time, of a larger one.
    pub block: usize,
    /// By one task.
    pub chunk: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { head: 1 << 20, block: 16 << 20, chunk: 1 << 18 }
    }
}

/// What of a file has not been read.
pub(in crate::read) struct Rest {
    pub file: File,
    /// Where it begins: with a line.
    pub start: u64,
    /// About how long it is.
    pub length: u64,
}

/// The end of the block that begins at `start`: after the first line end that is not before its size.
pub(super) fn block_end(text: &str, start: usize, size: usize) -> usize {
    let full = start.saturating_add(size).min(text.len());
    memchr(b'\n', &text.as_bytes()[full..]).map_or(text.len(), |end| full + end + 1)
}

/// The places at which a block is cut into chunks, its start and its end included.
pub(super) fn cuts(text: &str, range: Range<usize>, size: usize) -> Vec<usize> {
    let mut cuts = vec![range.start];
    let mut cut = range.start;
    while cut < range.end {
        cut = block_end(text, cut, size).min(range.end);
        cuts.push(cut);
    }
    cuts
}

/// Reads the rest of a file.
pub(in crate::read) struct Blocks<R> {
    reader: R,
    /// The size of a block.
    size: usize,
    /// What follows the last line end so far.
    tail: Vec<u8>,
}

/// What comes next in a file.
pub(in crate::read) enum NextBlock {
    Lines(String),
    /// Something that is not text.
    Unusual(Vec<u8>),
    End,
}

impl<R: Read> Blocks<R> {
    pub fn new(reader: R, size: usize) -> Self {
        Self { reader, size, tail: Vec::new() }
    }

    /// The next block: whole lines. The buffer's memory is used for it.
    pub fn next(&mut self, mut buffer: Vec<u8>) -> std::io::Result<NextBlock> {
        buffer.clear();
        buffer.append(&mut self.tail);
        loop {
            let read = self.reader.by_ref().take(self.size as u64).read_to_end(&mut buffer)?;
            let cut = match memrchr(b'\n', &buffer) {
                _ if read == 0 && buffer.is_empty() => return Ok(NextBlock::End),
                _ if read == 0 => buffer.len(),
                Some(last) => last + 1,
                None => continue,
            };
            self.tail.extend_from_slice(&buffer[cut..]);
            buffer.truncate(cut);
            return Ok(match String::from_utf8(buffer) {
                Ok(lines) if memchr(0, lines.as_bytes()).is_none() => NextBlock::Lines(lines),
                Ok(lines) => NextBlock::Unusual(lines.into_bytes()),
                Err(error) => NextBlock::Unusual(error.into_bytes()),
            });
        }
    }
}
