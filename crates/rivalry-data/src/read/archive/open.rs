//! Reads a compressed file as it is decompressed, without keeping it in memory.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::Compression;
use crate::memory::MemoryLimit;
use crate::{Error, Result};

/// A file that is read from its beginning.
pub(in super::super) struct Opened {
    pub reader: Box<dyn Read + Send>,
    /// The name of its compression.
    pub compression: Option<&'static str>,
}

/// Opens a file that may be compressed, which is recognised by its first bytes. `count` is called with the number of bytes
/// that are read of the file itself.
pub(in super::super) fn open(
    path: &Path,
    memory: MemoryLimit,
    count: impl Fn(usize) + Send + 'static,
) -> Result<Opened> {
    let failed = |e| Error::io("read", path, e);
    let mut file = File::open(path).map_err(failed)?;
    let mut first = Vec::new();
    file.by_ref().take(16).read_to_end(&mut first).map_err(failed)?;
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let file = BufReader::with_capacity(1 << 18, Counted { file, count });
    match Compression::of(&first) {
        None => Ok(Opened { reader: Box::new(file), compression: None }),
        Some(compression) => {
            let reader = super::decoder(path, compression, file, (size, memory))?;
            Ok(Opened { reader, compression: Some(compression.name()) })
        }
    }
}

/// Says how much is read of a file.
struct Counted<F> {
    file: File,
    count: F,
}

impl<F: Fn(usize)> Read for Counted<F> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        (self.count)(read);
        Ok(read)
    }
}
