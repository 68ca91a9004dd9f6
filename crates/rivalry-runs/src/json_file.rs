//! JSON files with a format and a checksum.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{InputError, Result};
use rivalry::files::checksum::TextFormat;
use rivalry::files::write_atomically;

/// A kind of JSON file.
pub(crate) struct JsonFile {
    /// What the files state of themselves.
    pub format: TextFormat,
    /// What is in them, for errors.
    pub content: &'static str,
    /// What to do about a damaged one.
    pub help: &'static str,
}

impl JsonFile {
    /// Writes a file, whole or not at all.
    pub fn write<T: Serialize + ?Sized>(&self, path: &Path, value: &T) -> Result<()> {
        write_atomically(path, |file| file.write_all(&self.content_of(value)))
    }

    /// The content of a file.
    pub fn content_of<T: Serialize + ?Sized>(&self, value: &T) -> Vec<u8> {
        let text = serde_json::to_string_pretty(value).expect("results are plain data") + "\n";
        self.format.json(&text)
    }

    /// Reads a file; `None` if there is none.
    ///
    /// # Errors
    /// If the file can't be read or is damaged.
    pub fn read<T: DeserializeOwned>(&self, path: &Path) -> Result<Option<T>> {
        let Some(text) = self.format.read(path, self.help)? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|fault| {
            InputError::new(format!("not {}: {fault}", self.content))
                .file(path)
                .line(fault.line() as u64)
                .help(self.help)
                .damage()
                .into()
        })
    }
}
