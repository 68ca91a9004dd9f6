//! `checksums.txt`: the checksums of the files of a prepared data set.
//!
//! The files themselves are tables that other programs read, with no place for a checksum. They are written and replaced
//! together, as a folder, so the list can't disagree with them after a crash.

use std::collections::BTreeMap;

use crate::InputError;
use crate::files::checksum::{TextFormat, checksum, damaged};

const FORMAT: TextFormat = TextFormat { name: "rivalry-prepared", version: 1 };
const HELP: &str =
    "prepare the data again: rivalry data prepare; if you changed them yourself, delete checksums.txt";

/// Checksums by the name of the file.
#[derive(Default)]
pub(crate) struct PreparedChecksums(BTreeMap<String, String>);

impl PreparedChecksums {
    /// The name of the list.
    pub const FILE: &'static str = "checksums.txt";

    /// Adds the checksum of a file.
    pub fn put(&mut self, name: &str, checksum: String) {
        self.0.insert(name.to_owned(), checksum);
    }

    /// The content of the list.
    pub fn to_bytes(&self) -> Vec<u8> {
        let lines: String = self.0.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
        FORMAT.comment(lines)
    }

    /// Reads a list; `None` if the file was not written by Rivalry.
    ///
    /// # Errors
    /// If the list is damaged.
    pub fn parse(content: &[u8]) -> Result<Option<Self>, InputError> {
        FORMAT.check(content, HELP)?;
        let text = String::from_utf8_lossy(content);
        if !text.starts_with(&format!("# {} ", FORMAT.name)) {
            return Ok(None);
        }
        let entry = |line: &str| line.split_once("  ").map(|(sum, name)| (name.to_owned(), sum.to_owned()));
        Ok(Some(Self(text.lines().skip(1).filter_map(entry).collect())))
    }

    /// The names of the files on the list.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Checks a file that is on the list; others pass.
    ///
    /// # Errors
    /// If its content has another checksum.
    pub fn check(&self, name: &str, content: &[u8]) -> Result<(), InputError> {
        match self.0.contains_key(name) {
            true => self.check_sum(name, &checksum(content)),
            false => Ok(()),
        }
    }

    /// Checks a file on the list whose content has this checksum; others pass.
    ///
    /// # Errors
    /// If it is another than on the list.
    pub fn check_sum(&self, name: &str, found: &str) -> Result<(), InputError> {
        match self.0.get(name) {
            Some(sum) if sum != found => Err(Self::damaged()),
            _ => Ok(()),
        }
    }

    /// The error for a file that is not as it was written.
    pub fn damaged() -> InputError {
        damaged().help(HELP)
    }

    /// Whether a file is on the list.
    pub fn lists(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The error for a file on the list that is not there.
    pub fn missing(name: &str) -> InputError {
        InputError::new(format!("there is no {name} inside, which {} lists", Self::FILE)).help(HELP).damage()
    }
}
