//! What is at a path: a text file, a Parquet file, or a bundle of files that belong together.

use std::fs;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use super::archive::{Decompressed, EXTENSIONS, decompress, is_compressed, is_zip};
use super::bundle::Bundle;
use super::columns::{names_item, names_user};
use super::foreign;
use super::parallel::{Rest, Sizes};
use super::parts::PartFiles;
use super::reading::Reading;
use super::sniff::enough;
use crate::memory::MemoryLimit;
use crate::{Error, InputError, Result};

pub(super) enum Source {
    Text(Text),
    Parquet(PathBuf),
    Bundle(Bundle),
    Parts(PartFiles),
}

/// A whole text file in memory, decompressed, without byte-order mark and leading comments.
pub(super) struct Text {
    /// The name in error messages.
    pub name: PathBuf,
    pub text: String,
    /// How many lines of comments came before the text.
    pub comments: usize,
    pub compression: Option<&'static str>,
    byte_order_mark: bool,
    /// What of the file has not been read; see [`Source::complete`].
    pub rest: Option<Rest>,
    pub sizes: Sizes,
}

impl Source {
    /// What is at a path. Of a large text file only the first lines are read, if they are enough to recognise its
    /// format; [`Source::complete`] reads the rest.
    pub fn open(path: &Path, memory: MemoryLimit, sizes: Sizes) -> Result<Self> {
        let failed = |e| Error::io("read", path, e);
        let metadata = fs::metadata(path).map_err(failed)?;
        if metadata.is_dir() {
            return Bundle::folder(path, memory)?.into_source();
        }
        check_size(path, memory)?;
        let mut file = fs::File::open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        file.by_ref().take(4).read_to_end(&mut bytes).map_err(failed)?;
        if is_parquet(&bytes) || path.extension().is_some_and(|e| e.eq_ignore_ascii_case("parquet")) {
            return Ok(Self::Parquet(path.to_owned()));
        }
        if metadata.is_file() && metadata.len() > sizes.head as u64 {
            file.by_ref().take(sizes.head as u64).read_to_end(&mut bytes).map_err(failed)?;
            match Text::head(path, &bytes, file, sizes) {
                Ok(text) => return Ok(Self::Text(text)),
                Err(returned) => file = returned,
            }
        }
        file.read_to_end(&mut bytes).map_err(failed)?;
        Self::from_bytes(path, bytes, memory)
    }

    /// Whether only the first lines have been read.
    pub fn is_head(&self) -> bool {
        matches!(self, Self::Text(text) if text.rest.is_some())
    }

    /// Reads what has not been read yet.
    pub fn complete(self, memory: MemoryLimit) -> Result<Self> {
        match self {
            Self::Text(Text { name, rest: Some(mut rest), .. }) => {
                let mut bytes = Vec::new();
                let whole = rest.file.rewind().and_then(|()| rest.file.read_to_end(&mut bytes));
                whole.map_err(|e| Error::io("read", &name, e))?;
                Self::from_bytes(&name, bytes, memory)
            }
            other => Ok(other),
        }
    }

    /// A file that is in memory; `name` is for error messages.
    pub fn from_bytes(name: &Path, bytes: Vec<u8>, memory: MemoryLimit) -> Result<Self> {
        if is_zip(&bytes) {
            return Bundle::zip(name, bytes, memory)?.into_source();
        }
        if is_parquet(&bytes) {
            let error = InputError::new("Parquet files are read from disk only").file(name);
            return Err(error.help("save it as a file, and give its path").into());
        }
        Ok(Self::Text(Text::new(name.to_owned(), decompress(name, bytes, memory)?)?))
    }

    /// The text file that `format` requires.
    pub fn text(&self, format: &str) -> Result<&Text> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Parquet(path) => Err(mismatch(path, format, "one text file", "a Parquet file")),
            Self::Bundle(bundle) => Err(mismatch(&bundle.name, format, "one text file", "several files")),
            Self::Parts(parts) => Err(mismatch(&parts.folder, format, "one text file", "several files")),
        }
    }

    /// The bundle that `format` requires.
    pub fn bundle(&self, format: &str, requirement: &str) -> Result<&Bundle> {
        match self {
            Self::Bundle(bundle) => Ok(bundle),
            Self::Parquet(path) => Err(mismatch(path, format, requirement, "a Parquet file")),
            Self::Text(text) => Err(mismatch(&text.name, format, requirement, "one text file")),
            Self::Parts(parts) => Err(mismatch(&parts.folder, format, requirement, "parts of one table")),
        }
    }
}

/// Refuses a file that doesn't fit into memory.
pub(super) fn check_size(path: &Path, memory: MemoryLimit) -> Result<()> {
    let bytes = fs::metadata(path).map_err(|e| Error::io("read", path, e))?.len();
    memory.require(bytes, "reading it").map_err(|error| error.file(path).help(TOO_LARGE).into())
}

/// What to do about data that don't fit into memory.
pub(super) const TOO_LARGE: &str = "raise --max-memory, or read a part of the data: rivalry data prepare filters CSV and Parquet files of any \
                                    size";

/// The error for a requested format that the kind of source rules out.
pub(super) fn mismatch(name: &Path, format: &str, requirement: &str, found: &str) -> Error {
    InputError::new(format!("the format '{format}' requires {requirement}, but this is {found}"))
        .file(name)
        .field("data.read.format")
        .help("omit `data.read.format` to detect it, or give another file")
        .into()
}

/// Checks that bytes, which come after this many lines of a file, are UTF-8 text.
pub(super) fn to_text(bytes: Vec<u8>, lines: u64) -> Result<String, InputError> {
    let line = |before: &[u8]| lines + 1 + before.iter().filter(|&&b| b == b'\n').count() as u64;
    let text = String::from_utf8(bytes).map_err(|e| {
        let valid = e.utf8_error().valid_up_to();
        InputError::new(format!("byte 0x{:02x} is not UTF-8 text", e.as_bytes()[valid]))
            .line(line(&e.as_bytes()[..valid]))
            .help("save the file as UTF-8, for example: iconv -f LATIN1 -t UTF-8 FILE > NEW")
    })?;
    match text.find('\0') {
        None => Ok(text),
        Some(at) => {
            let error = InputError::new("found a zero byte: this is not a text file");
            let help = "give a text file, a Parquet file, or a compressed file or zip of text files";
            Err(error.line(line(&text.as_bytes()[..at])).help(help))
        }
    }
}

pub(super) fn is_parquet(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PAR1")
}

impl Text {
    /// Checks that the bytes are non-empty UTF-8 text.
    pub fn new(name: PathBuf, Decompressed { mut bytes, compression }: Decompressed) -> Result<Self> {
        foreign::refuse(&name, &bytes)?;
        if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
            let error = InputError::new("this is UTF-16 text, not UTF-8").file(name).line(1);
            return Err(error.help("convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW").into());
        }
        let byte_order_mark = bytes.starts_with(&[0xef, 0xbb, 0xbf]);
        if byte_order_mark {
            bytes.drain(..3);
        }
        let mut text = to_text(bytes, 0).map_err(|error| error.file(&name))?;
        if text.trim_ascii().is_empty() {
            return Err(InputError::new("the file is empty")
                .file(name)
                .help("give a file with interactions")
                .into());
        }
        let Comments { lines: comments, bytes } = leading_comments(&text);
        text.drain(..bytes);
        let (rest, sizes) = (None, Sizes::default());
        Ok(Self { name, text, comments, compression, byte_order_mark, rest, sizes })
    }

    /// The first lines of a file, if they are enough to recognise its format: text without quotes, which might span any
    /// number of lines, and more lines than are looked at. Otherwise returns the file.
    fn head(name: &Path, bytes: &[u8], file: fs::File, sizes: Sizes) -> Result<Self, fs::File> {
        let lines = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        let plain = !is_zip(bytes) && !is_compressed(bytes) && !bytes[..lines].contains(&b'"');
        let head = Decompressed { bytes: bytes[..lines].to_vec(), compression: None };
        match Self::new(name.to_owned(), head) {
            Ok(text) if plain && enough(&text) => {
                let size = file.metadata().map_or(0, |metadata| metadata.len());
                let start = lines as u64;
                let rest = Some(Rest { file, start, length: size.saturating_sub(start) });
                Ok(Self { rest, sizes, ..text })
            }
            _ => Err(file),
        }
    }

    #[cfg(test)]
    pub fn plain(name: &str, text: &str) -> Self {
        let (name, text) = (name.into(), text.to_owned());
        let (rest, sizes) = (None, Sizes::default());
        Self { name, text, comments: 0, compression: None, byte_order_mark: false, rest, sizes }
    }

    /// How this text was read, as far as it doesn't depend on the format.
    pub fn reading(&self, format: &str) -> Reading {
        Reading {
            format: format.to_owned(),
            compression: self.compression,
            encoding: Some(if self.byte_order_mark { "UTF-8 with byte-order mark" } else { "UTF-8" }),
            comments: self.comments,
            ..Reading::default()
        }
    }

    /// The file name in lower case, without the extension of the compression.
    pub fn base_name(&self) -> String {
        let name = self.name.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let bare = EXTENSIONS.iter().find_map(|extension| name.strip_suffix(extension));
        bare.unwrap_or(&name).to_owned()
    }
}

/// The lines at the beginning of a text that start with `#`.
struct Comments {
    lines: usize,
    bytes: usize,
}

/// The leading comments. A file in which every line starts with `#` has none: there `#` is part of the ids. If the last
/// comment names a user and an item column, it is the header, and only its `#` is taken away.
fn leading_comments(text: &str) -> Comments {
    let (mut lines, mut bytes) = (0, 0);
    let mut last = "";
    for line in text.split_inclusive('\n') {
        if !line.starts_with('#') {
            break;
        }
        lines += 1;
        bytes += line.len();
        last = line;
    }
    if text[bytes..].trim_ascii().is_empty() {
        return Comments { lines: 0, bytes: 0 };
    }
    let header = last.trim_start_matches('#').trim_ascii_start();
    let names: Vec<&str> = header.split(['\t', ',', ';', '|', ' ']).collect();
    if names_user(&names) && names_item(&names) {
        return Comments { lines: lines - 1, bytes: bytes - header.len() };
    }
    Comments { lines, bytes }
}
