//! The first lines of a text file, and a reader of the others.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memrchr;

use crate::memory::MemoryLimit;
use crate::read::archive::{Decompressed, Opened, broken, is_zip, open};
use crate::read::parallel::Sizes;
use crate::read::source::Text;
use crate::{Error, Result};

/// A text file of which the first lines have been read.
pub(super) struct Head {
    pub text: Text,
    /// What follows these lines.
    pub rest: Box<dyn Read + Send>,
    /// The bytes of the file that have been read.
    pub read: Arc<AtomicU64>,
}

impl Head {
    /// Opens a file; `None` if nothing is in it.
    pub fn open(path: &Path, sizes: Sizes, memory: MemoryLimit) -> Result<Option<Self>> {
        let read = Arc::new(AtomicU64::new(0));
        let counter = read.clone();
        let count = move |bytes| {
            counter.fetch_add(bytes as u64, Ordering::Relaxed);
        };
        let Opened { mut reader, compression } = open(path, memory, count)?;
        let mut bytes = Vec::new();
        // Whole lines: a byte-order mark, a comment or a header would be looked for in vain in a part of one.
        let lines = loop {
            let more = reader.by_ref().take(sizes.head as u64).read_to_end(&mut bytes);
            let more = more.map_err(|e| failed(path, compression, e))?;
            match memrchr(b'\n', &bytes) {
                _ if more < sizes.head => break bytes.len(), // this is all
                Some(last) => break last + 1,
                None => {}
            }
        };
        let after = bytes.split_off(lines);
        if bytes.trim_ascii().is_empty() && after.is_empty() {
            return Ok(None);
        }
        let mut text = Text::new(path.to_owned(), Decompressed { bytes, compression })?;
        text.sizes = sizes;
        let rest: Box<dyn Read + Send> = Box::new(std::io::Cursor::new(after).chain(reader));
        Ok(Some(Self { text, rest, read }))
    }
}

/// Whether a file is a zip file, which can't be read from its beginning.
pub(super) fn is_zip_file(path: &Path) -> Result<bool> {
    Ok(is_zip(&super::first_bytes(path)?))
}

/// The error for a file that can't be read.
pub(super) fn failed(path: &Path, compression: Option<&'static str>, error: std::io::Error) -> Error {
    match compression {
        Some(kind) => broken(path, kind, &error),
        None => Error::io("read", path, error),
    }
}
