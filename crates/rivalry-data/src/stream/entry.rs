//! What is kept of a record on its way into the table.

use crate::log::At;

/// A pair and, where that matters, when it occurred. Entries of the same pair are sorted by that, so the last is the one to keep.
pub(super) trait Entry: Copy + Ord + Send + Sync {
    /// Its size in a file.
    const BYTES: usize;
    /// Whether it knows when it occurred.
    const TIMED: bool;

    fn new(pair: u64, at: At) -> Self;

    /// User and item, in the high and the low half.
    fn pair(self) -> u64;

    fn at(self) -> At;

    fn write(self, bytes: &mut Vec<u8>);

    /// From exactly as many bytes as it has.
    fn read(bytes: &[u8]) -> Self;

    fn user(self) -> usize {
        (self.pair() >> 32) as usize
    }

    fn item(self) -> usize {
        self.pair() as u32 as usize
    }
}

/// A pair alone.
impl Entry for u64 {
    const BYTES: usize = 8;
    const TIMED: bool = false;

    fn new(pair: u64, _: At) -> Self {
        pair
    }

    fn pair(self) -> u64 {
        self
    }

    fn at(self) -> At {
        At::default()
    }

    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Self {
        number(bytes)
    }
}

/// A pair, its time, and the position of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Timed {
    pair: u64,
    time: i64,
    position: u64,
}

impl Entry for Timed {
    const BYTES: usize = 24;
    const TIMED: bool = true;

    fn new(pair: u64, (time, position): At) -> Self {
        Self { pair, time, position: position as u64 }
    }

    fn pair(self) -> u64 {
        self.pair
    }

    fn at(self) -> At {
        (self.time, self.position as usize)
    }

    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.pair.to_le_bytes());
        bytes.extend_from_slice(&self.time.to_le_bytes());
        bytes.extend_from_slice(&self.position.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Self {
        Self { pair: number(bytes), time: number(&bytes[8..]) as i64, position: number(&bytes[16..]) }
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_as_they_were_written() {
        let timed = Timed::new(7 << 32 | 9, (-5, 1 << 40));
        let mut bytes = Vec::new();
        timed.write(&mut bytes);
        (3_u64 << 40).write(&mut bytes);
        assert_eq!(bytes.len(), Timed::BYTES + <u64 as Entry>::BYTES);
        assert_eq!((Timed::read(&bytes[..24]), <u64 as Entry>::read(&bytes[24..])), (timed, 3 << 40));
        assert_eq!((timed.user(), timed.item(), timed.at()), (7, 9, (-5, 1 << 40)));
        assert!(timed < Timed::new(7 << 32 | 9, (-4, 0)));
    }
}
