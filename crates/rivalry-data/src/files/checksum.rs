//! Checksums: a file that is read again states its format, and a checksum of its own content.
//!
//! The checksum is the XXH3-64 of all bytes of the file but its own sixteen digits. It is in the file itself, because files
//! are replaced one at a time: after a crash a list in another file could disagree with them. A file with a format but
//! without a checksum is damaged, and so is one with a wrong checksum, whatever its format; so no single flipped bit can
//! make it look like a file of a release that wrote none.

use std::hash::Hasher;
use std::io::{ErrorKind, Write};
use std::path::Path;

use twox_hash::XxHash3_64;

use crate::{Error, InputError, Result};

/// What a checksum starts with.
const MARK: &str = "xxh3-";
/// The number of hex digits that follow.
const DIGITS: usize = 16;
/// Format and checksum are within so many bytes from the beginning.
const HEAD: usize = 128;

/// The text in the place of a checksum until [`fill_in`] replaces it.
pub const PLACEHOLDER: &str = "xxh3-0000000000000000";

/// The checksum of bytes: `xxh3-` and 16 lower-case hex digits.
pub fn checksum(bytes: &[u8]) -> String {
    format!("{MARK}{:016x}", XxHash3_64::oneshot(bytes))
}

/// Computes the checksum of what is written through it.
pub(crate) struct ChecksumWriter<W> {
    writer: W,
    hasher: XxHash3_64,
}

impl<W: Write> ChecksumWriter<W> {
    pub fn new(writer: W) -> Self {
        Self { writer, hasher: XxHash3_64::new() }
    }

    /// The writer, and the checksum of all that was written.
    pub fn into_inner(self) -> (W, String) {
        (self.writer, format!("{MARK}{:016x}", self.hasher.finish()))
    }
}

impl<W: Write> Write for ChecksumWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.writer.write(bytes)?;
        self.hasher.write(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.writer.flush()
    }
}

/// Replaces [`PLACEHOLDER`], which must be within the first bytes of the content, by the checksum of the rest.
pub fn fill_in(content: &mut [u8]) {
    let digits = digits_at(content).expect("the content has a place for its checksum");
    let hex = hex(content, digits);
    content[digits..digits + DIGITS].copy_from_slice(hex.as_bytes());
}

/// The checksum of content that is written or read piece by piece, after a head with the place of the checksum in it.
pub struct PiecewiseChecksum {
    digits: usize,
    hasher: XxHash3_64,
}

impl PiecewiseChecksum {
    /// Starts with the head; `None` if it has no place for a checksum.
    pub fn new(head: &[u8]) -> Option<Self> {
        let digits = digits_at(head)?;
        let mut hasher = XxHash3_64::new();
        hasher.write(&head[..digits]);
        hasher.write(head.get(digits + DIGITS..)?);
        Some(Self { digits, hasher })
    }

    /// Goes on with the next piece.
    pub fn update(&mut self, piece: &[u8]) {
        self.hasher.write(piece);
    }

    /// Writes the checksum into the head.
    pub fn fill_in(&self, head: &mut [u8]) {
        head[self.digits..self.digits + DIGITS].copy_from_slice(self.hex().as_bytes());
    }

    /// Whether the head has this checksum.
    pub fn is_in(&self, head: &[u8]) -> bool {
        head.get(self.digits..self.digits + DIGITS) == Some(self.hex().as_bytes())
    }

    fn hex(&self) -> String {
        format!("{:016x}", self.hasher.finish())
    }
}

/// Whether a file has a checksum, and the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumStatus {
    /// It has none.
    Missing,
    /// It has the checksum of its content.
    Valid,
    /// It has the checksum of other content.
    Invalid,
}

impl ChecksumStatus {
    /// Looks for the checksum of a file and compares it with the content.
    pub fn of(content: &[u8]) -> Self {
        match digits_at(content) {
            None => Self::Missing,
            Some(digits) => match content.get(digits..digits + DIGITS) {
                Some(found) if found == hex(content, digits).as_bytes() => Self::Valid,
                _ => Self::Invalid,
            },
        }
    }
}

/// The error for a file that is not as it was written.
pub fn damaged() -> InputError {
    InputError::new("has been changed or damaged: its checksum doesn't match its content").damage()
}

/// A text format whose files state it, with a version and a checksum.
#[derive(Clone, Copy, Debug)]
pub struct TextFormat {
    /// The name, which no file of a release without checksums has in its first bytes.
    pub name: &'static str,
    /// The version that is written, and the newest that is read.
    pub version: u32,
}

impl TextFormat {
    /// JSON or JSON lines, with format and checksum as the first fields of the first object. Text without an object is
    /// returned as it is.
    pub fn json(&self, text: &str) -> Vec<u8> {
        let Some((before, after)) = text.split_once('{') else { return text.into() };
        let space = &after[..after.len() - after.trim_start().len()];
        let colon = if space.is_empty() { ":" } else { ": " };
        let Self { name, version } = self;
        let head = format!(
            "{before}{{{space}\"format\"{colon}\"{name} {version}\",{space}\"checksum\"{colon}\"{PLACEHOLDER}\",{after}"
        );
        with_checksum(head.into_bytes())
    }

    /// Content after a first line that starts with `#`, as a comment in TOML.
    pub fn comment(&self, content: impl AsRef<[u8]>) -> Vec<u8> {
        let line = format!("# {} {}, checksum {PLACEHOLDER}\n", self.name, self.version);
        with_checksum([line.as_bytes(), content.as_ref()].concat())
    }

    /// Reads a file; `None` if there is none. `help` says what to do if it is damaged.
    ///
    /// # Errors
    /// As [`check`](Self::check), and if the file can't be read or is not UTF-8 text.
    pub fn read(&self, path: &Path, help: &str) -> Result<Option<String>> {
        let content = match std::fs::read(path) {
            Ok(content) => content,
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            Err(e) => return Err(Error::io("read", path, e)),
        };
        self.check(&content, help).map_err(|fault| fault.file(path))?;
        let text = String::from_utf8(content);
        text.map(Some).map_err(|_| InputError::new("not UTF-8 text").file(path).help(help).damage().into())
    }

    /// Checks the content of a file; `help` says what to do if it is damaged. Files of releases that wrote neither format
    /// nor checksum pass.
    ///
    /// # Errors
    /// If the file is damaged, or was made by a later release.
    pub fn check(&self, content: &[u8], help: &str) -> Result<(), InputError> {
        let head = String::from_utf8_lossy(&content[..content.len().min(HEAD)]);
        let stated = head.split_once(&format!("{} ", self.name)).map(|(_, rest)| rest);
        match (ChecksumStatus::of(content), stated) {
            // A comment that was cut short would pass for an empty file.
            (ChecksumStatus::Missing, None)
                if !content.is_empty() && self.comment("").starts_with(content) =>
            {
                Err(damaged().help(help))
            }
            (ChecksumStatus::Missing, None) => Ok(()),
            (ChecksumStatus::Invalid, _)
            | (ChecksumStatus::Missing, Some(_))
            | (ChecksumStatus::Valid, None) => Err(damaged().help(help)),
            (ChecksumStatus::Valid, Some(rest)) => {
                let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                match rest[..digits].parse::<u32>() {
                    Ok(version) if version <= self.version => Ok(()),
                    _ => Err(InputError::new(format!(
                        "made by a later release (format {}, known up to {})",
                        &rest[..digits],
                        self.version
                    ))
                    .help("update rivalry")),
                }
            }
        }
    }
}

fn with_checksum(mut content: Vec<u8>) -> Vec<u8> {
    fill_in(&mut content);
    content
}

/// Where the digits of the checksum are.
fn digits_at(content: &[u8]) -> Option<usize> {
    let head = &content[..content.len().min(HEAD)];
    let mark = head.windows(MARK.len()).position(|bytes| bytes == MARK.as_bytes())?;
    Some(mark + MARK.len())
}

/// The digits of the checksum of everything but the digits at this place.
fn hex(content: &[u8], digits: usize) -> String {
    let mut hasher = XxHash3_64::new();
    hasher.write(&content[..digits]);
    hasher.write(content.get(digits + DIGITS..).unwrap_or_default());
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: TextFormat = TextFormat { name: "rivalry-test", version: 2 };

    fn flipped(content: &[u8], bit: usize) -> Vec<u8> {
        let mut content = content.to_vec();
        content[bit / 8] ^= 1 << (bit % 8);
        content
    }

    #[test]
    fn the_checksum_is_the_published_xxh3() {
        // Values of the reference implementation (XXH3_64bits, seed 0).
        assert_eq!(checksum(b""), "xxh3-2d06800538d394c2");
        let mut writer = ChecksumWriter::new(Vec::new());
        writer.write_all(b"in ").and_then(|()| writer.write_all(b"parts")).unwrap();
        assert_eq!(writer.into_inner(), (b"in parts".to_vec(), checksum(b"in parts")));
    }

    #[test]
    fn a_checksum_by_pieces_is_that_of_the_whole() {
        let content = FORMAT.comment("a = 1\n");
        let (mut head, rest) = (content[..50].to_vec(), &content[50..]);
        let mut pieces = PiecewiseChecksum::new(&head).unwrap();
        rest.chunks(3).for_each(|piece| pieces.update(piece));
        assert!(pieces.is_in(&head));
        head[..].copy_from_slice(&FORMAT.comment("a = 2\n")[..50]);
        assert!(!pieces.is_in(&head));
        pieces.fill_in(&mut head);
        assert_eq!(head, content[..50]);
        assert!(PiecewiseChecksum::new(b"nothing").is_none());
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let lines = "{\"epoch\":1}\n{\"epoch\":2}\n";
        for content in [FORMAT.json("{\n  \"a\": 1\n}\n"), FORMAT.json(lines), FORMAT.comment("a = 1\n")] {
            FORMAT.check(&content, "").unwrap();
            for bit in 0..8 * content.len() {
                let error = FORMAT.check(&flipped(&content, bit), "").expect_err("damage");
                assert!(error.to_string().contains("changed or damaged"), "{error}");
            }
            // Shorter JSON is no JSON.
            let from = if content.starts_with(b"#") { 1 } else { 40 };
            for end in from..content.len() {
                assert!(FORMAT.check(&content[..end], "").is_err(), "cut at {end}");
            }
        }
    }

    #[test]
    fn the_fields_are_in_the_style_of_the_text() {
        let text = |content: Vec<u8>| String::from_utf8(content).unwrap();
        let head = "{\n  \"format\": \"rivalry-test 2\",\n  \"checksum\": \"xxh3-";
        assert!(text(FORMAT.json("{\n  \"a\": 1\n}\n")).starts_with(head));
        let first = text(FORMAT.json("{\"a\":1}\n{\"a\":2}\n"));
        assert!(first.starts_with("{\"format\":\"rivalry-test 2\",\"checksum\":\"xxh3-"), "{first}");
        assert!(first.ends_with("\",\"a\":1}\n{\"a\":2}\n"), "{first}");
        assert_eq!(FORMAT.json("[]\n"), b"[]\n");
    }

    #[test]
    fn files_without_checksum_and_files_of_later_releases() {
        FORMAT.check(b"{\"a\": 1}", "").unwrap();
        FORMAT.check(b"", "").unwrap();
        let later = TextFormat { version: 13, ..FORMAT }.comment("a = 1");
        let error = FORMAT.check(&later, "").unwrap_err().to_string();
        assert!(error.contains("later release (format 13, known up to 2)"), "{error}");
    }
}
