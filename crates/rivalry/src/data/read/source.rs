//! What a path leads to: one text, one Parquet file, or a bundle of files that belong together.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::bundle::Bundle;
use super::unpack::{Zip, unpack};
use crate::{Error, InputError, Result, memory};

pub(super) enum Source {
    Text(Text),
    Parquet(PathBuf),
    Bundle(Bundle),
}

/// A whole text in memory, free of wrappings and byte-order mark.
pub(super) struct Text {
    /// What errors call it.
    pub name: PathBuf,
    pub text: String,
}

impl Source {
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |e| Error::io("read", path, e);
        if fs::metadata(path).map_err(failed)?.is_dir() {
            return Bundle::folder(path)?.into_source();
        }
        fits(path)?;
        let mut file = fs::File::open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        file.by_ref().take(4).read_to_end(&mut bytes).map_err(failed)?;
        if bytes == b"PAR1" || path.extension().is_some_and(|e| e.eq_ignore_ascii_case("parquet")) {
            return Ok(Self::Parquet(path.to_owned()));
        }
        file.read_to_end(&mut bytes).map_err(failed)?;
        if Zip::is_one(&bytes) {
            return Bundle::zip(path, bytes)?.into_source();
        }
        Ok(Self::Text(Text::new(path.to_owned(), unpack(path, bytes)?)?))
    }

    /// The one text a format needs.
    pub fn text(&self, format: &str) -> Result<&Text> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Parquet(path) => Err(unfit(path, format, "one text file", "a Parquet file")),
            Self::Bundle(bundle) => Err(unfit(&bundle.name, format, "one text file", "several files")),
        }
    }

    /// The bundle a format needs.
    pub fn bundle(&self, format: &str, needs: &str) -> Result<&Bundle> {
        match self {
            Self::Bundle(bundle) => Ok(bundle),
            Self::Parquet(path) => Err(unfit(path, format, needs, "a Parquet file")),
            Self::Text(text) => Err(unfit(&text.name, format, needs, "one text file")),
        }
    }
}

/// Refuses a file that the memory can't hold.
pub(super) fn fits(path: &Path) -> Result<()> {
    let bytes = fs::metadata(path).map_err(|e| Error::io("read", path, e))?.len();
    memory::require(bytes, "reading it")
        .map_err(|refused| refused.file(path).help("raise --max-memory, or read a part of the file").into())
}

/// The error for a format that was asked for but can't be in such a place.
pub(super) fn unfit(name: &Path, format: &str, needs: &str, found: &str) -> Error {
    InputError::new(format!("the format '{format}' needs {needs}, this is {found}"))
        .file(name)
        .field("format")
        .help("leave the format out to have it found, or name another file")
        .into()
}

impl Text {
    /// Checks that the bytes are text, and not none.
    pub fn new(name: PathBuf, mut bytes: Vec<u8>) -> Result<Self> {
        if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
            let fault = InputError::new("this is UTF-16 text, not UTF-8").file(name).line(1);
            return Err(fault.help("convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW").into());
        }
        if bytes.starts_with(&[0xef, 0xbb, 0xbf]) {
            bytes.drain(..3);
        }
        let line = |before: &[u8]| 1 + before.iter().filter(|&&b| b == b'\n').count() as u64;
        let text = String::from_utf8(bytes).map_err(|e| {
            let good = e.utf8_error().valid_up_to();
            InputError::new(format!("byte 0x{:02x} is not UTF-8 text", e.as_bytes()[good]))
                .file(&name)
                .line(line(&e.as_bytes()[..good]))
                .help("save the file as UTF-8, for example: iconv -f LATIN1 -t UTF-8 FILE > NEW")
        })?;
        if let Some(at) = text.find('\0') {
            let fault = InputError::new("a zero byte: this is not a text file").file(name);
            let help = "unpack archives such as .tar first; convert UTF-16 text to UTF-8";
            return Err(fault.line(line(&text.as_bytes()[..at])).help(help).into());
        }
        if text.trim_ascii().is_empty() {
            return Err(InputError::new("the file is empty")
                .file(name)
                .help("give a file with interactions")
                .into());
        }
        Ok(Self { name, text })
    }

    /// The file's own name in lower case, without the ending of its wrapping.
    pub fn base_name(&self) -> String {
        let name = self.name.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let bare = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst"));
        bare.unwrap_or(&name).to_owned()
    }
}
