//! What is at a path: a text file, a Parquet file, or a bundle of files that belong together.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::archive::{decompress, is_zip};
use super::bundle::Bundle;
use crate::memory::MemoryLimit;
use crate::{Error, InputError, Result};

pub(super) enum Source {
    Text(Text),
    Parquet(PathBuf),
    Bundle(Bundle),
}

/// A whole text file in memory, decompressed and without byte-order mark.
pub(super) struct Text {
    /// The name in error messages.
    pub name: PathBuf,
    pub text: String,
}

impl Source {
    pub fn open(path: &Path, memory: MemoryLimit) -> Result<Self> {
        let failed = |e| Error::io("read", path, e);
        if fs::metadata(path).map_err(failed)?.is_dir() {
            return Bundle::folder(path, memory)?.into_source();
        }
        check_size(path, memory)?;
        let mut file = fs::File::open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        file.by_ref().take(4).read_to_end(&mut bytes).map_err(failed)?;
        if bytes == b"PAR1" || path.extension().is_some_and(|e| e.eq_ignore_ascii_case("parquet")) {
            return Ok(Self::Parquet(path.to_owned()));
        }
        file.read_to_end(&mut bytes).map_err(failed)?;
        if is_zip(&bytes) {
            return Bundle::zip(path, bytes, memory)?.into_source();
        }
        Ok(Self::Text(Text::new(path.to_owned(), decompress(path, bytes, memory)?)?))
    }

    /// The text file that `format` requires.
    pub fn text(&self, format: &str) -> Result<&Text> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Parquet(path) => Err(mismatch(path, format, "one text file", "a Parquet file")),
            Self::Bundle(bundle) => Err(mismatch(&bundle.name, format, "one text file", "several files")),
        }
    }

    /// The bundle that `format` requires.
    pub fn bundle(&self, format: &str, requirement: &str) -> Result<&Bundle> {
        match self {
            Self::Bundle(bundle) => Ok(bundle),
            Self::Parquet(path) => Err(mismatch(path, format, requirement, "a Parquet file")),
            Self::Text(text) => Err(mismatch(&text.name, format, requirement, "one text file")),
        }
    }
}

/// Refuses a file that doesn't fit into memory.
pub(super) fn check_size(path: &Path, memory: MemoryLimit) -> Result<()> {
    let bytes = fs::metadata(path).map_err(|e| Error::io("read", path, e))?.len();
    memory
        .require(bytes, "reading it")
        .map_err(|error| error.file(path).help("raise --max-memory, or read a part of the file").into())
}

/// The error for a requested format that the kind of source rules out.
pub(super) fn mismatch(name: &Path, format: &str, requirement: &str, found: &str) -> Error {
    InputError::new(format!("the format '{format}' requires {requirement}, but this is {found}"))
        .file(name)
        .field("format")
        .help("omit `format` to detect it, or give another file")
        .into()
}

impl Text {
    /// Checks that the bytes are non-empty UTF-8 text.
    pub fn new(name: PathBuf, mut bytes: Vec<u8>) -> Result<Self> {
        if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
            let error = InputError::new("this is UTF-16 text, not UTF-8").file(name).line(1);
            return Err(error.help("convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW").into());
        }
        if bytes.starts_with(&[0xef, 0xbb, 0xbf]) {
            bytes.drain(..3);
        }
        let line = |before: &[u8]| 1 + before.iter().filter(|&&b| b == b'\n').count() as u64;
        let text = String::from_utf8(bytes).map_err(|e| {
            let valid = e.utf8_error().valid_up_to();
            InputError::new(format!("byte 0x{:02x} is not UTF-8 text", e.as_bytes()[valid]))
                .file(&name)
                .line(line(&e.as_bytes()[..valid]))
                .help("save the file as UTF-8, for example: iconv -f LATIN1 -t UTF-8 FILE > NEW")
        })?;
        if let Some(at) = text.find('\0') {
            let error = InputError::new("found a zero byte: this is not a text file").file(name);
            let help = "extract archives such as .tar first; convert UTF-16 text to UTF-8";
            return Err(error.line(line(&text.as_bytes()[..at])).help(help).into());
        }
        if text.trim_ascii().is_empty() {
            return Err(InputError::new("the file is empty")
                .file(name)
                .help("give a file with interactions")
                .into());
        }
        Ok(Self { name, text })
    }

    /// The file name in lower case, without the extension of the compression.
    pub fn base_name(&self) -> String {
        let name = self.name.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let bare = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst"));
        bare.unwrap_or(&name).to_owned()
    }
}
