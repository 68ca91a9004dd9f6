//! Decompresses gzip, Zstandard, xz, bzip2 and zip files in memory, within limits.

mod open;

use std::path::Path;

#[cfg(not(feature = "archives"))]
use disabled::decoder;
#[cfg(not(feature = "archives"))]
pub(super) use disabled::{Zip, decompress};
#[cfg(feature = "archives")]
use enabled::decoder;
#[cfg(feature = "archives")]
pub(super) use enabled::{Zip, decompress};
pub(super) use open::{Opened, open};

use crate::{Error, InputError};

/// Whether these are the first bytes of a zip file.
pub(super) fn is_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")
}

/// Whether these are the first bytes of a compressed file.
pub(super) fn is_compressed(bytes: &[u8]) -> bool {
    Compression::of(bytes).is_some()
}

/// The extensions of compressed files.
pub(crate) const EXTENSIONS: [&str; 4] = [".gz", ".zst", ".xz", ".bz2"];

/// A compression of a single file.
#[derive(Clone, Copy)]
enum Compression {
    Gzip,
    Zstd,
    Xz,
    Bzip2,
}

impl Compression {
    /// The compression, by the first bytes of a file.
    fn of(bytes: &[u8]) -> Option<Self> {
        let signatures: [(Self, &[u8]); 4] = [
            (Self::Gzip, &[0x1f, 0x8b]),
            (Self::Zstd, &[0x28, 0xb5, 0x2f, 0xfd]),
            (Self::Xz, &[0xfd, b'7', b'z', b'X', b'Z', 0]),
            (Self::Bzip2, b"BZh"),
        ];
        let found = signatures.into_iter().find(|(_, signature)| bytes.starts_with(signature))?.0;
        // The first block's signature, or that of the end, follows the level; "BZh" alone may begin a text.
        let blocks = [&[0x31, 0x41, 0x59, 0x26, 0x53, 0x59], &[0x17, 0x72, 0x45, 0x38, 0x50, 0x90]];
        match found {
            Self::Bzip2 if !blocks.iter().any(|block| bytes.get(4..10) == Some(&block[..])) => None,
            _ => Some(found),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
        }
    }
}

/// The content of a file that may have been compressed.
pub(super) struct Decompressed {
    pub bytes: Vec<u8>,
    /// The name of the compression.
    pub compression: Option<&'static str>,
}

/// The error for a file that can't be decompressed.
pub(super) fn broken(name: &Path, kind: &str, error: &dyn std::fmt::Display) -> Error {
    InputError::new(format!("broken {kind} file: {error}"))
        .file(name)
        .help("it may be truncated: copy or download it again")
        .into()
}

#[cfg(feature = "archives")]
mod enabled {
    use std::io::{BufRead, Cursor, Read};
    use std::sync::Arc;

    use bzip2::read::MultiBzDecoder;
    use flate2::read::MultiGzDecoder;
    use lzma_rust2::XzReader;
    use zip::ZipArchive;

    use super::broken;
    use super::{Compression, Decompressed, Path};
    use crate::memory::MemoryLimit;
    use crate::{InputError, Result};

    /// A file may always expand to `SMALL`, beyond that to `RATIO` times its compressed size, and never past `LARGE`.
    /// Interaction logs compress about ten to one; a much higher ratio means a decompression bomb.
    pub(super) const SMALL: u64 = 64 << 20;
    const RATIO: u64 = 250;
    const LARGE: u64 = 4 << 30;
    /// How much memory the dictionary of an xz file may take; `xz -9` takes 64 MB.
    const DICTIONARY: u64 = 1 << 30;

    /// The content of a compressed file, recognised by its first bytes; other files are returned unchanged.
    pub(in super::super) fn decompress(
        name: &Path,
        bytes: Vec<u8>,
        memory: MemoryLimit,
    ) -> Result<Decompressed> {
        let Some(compression) = Compression::of(&bytes) else {
            return Ok(Decompressed { bytes, compression: None });
        };
        let (kind, limit) = (compression.name(), expansion_limit(bytes.len() as u64, memory));
        let bytes = match compression {
            Compression::Gzip => expand(name, kind, MultiGzDecoder::new(&bytes[..]), limit),
            Compression::Zstd => {
                let decoder = zstd::Decoder::with_buffer(&bytes[..]).map_err(|e| broken(name, kind, &e))?;
                expand(name, kind, decoder, limit)
            }
            Compression::Xz => {
                expand(name, kind, XzReader::new_mem_limit(&bytes[..], true, dictionary(memory)), limit)
            }
            Compression::Bzip2 => expand(name, kind, MultiBzDecoder::new(&bytes[..]), limit),
        }?;
        Ok(Decompressed { bytes, compression: Some(kind) })
    }

    /// To how many bytes a file of `compressed` bytes may expand.
    fn expansion_limit(compressed: u64, memory: MemoryLimit) -> u64 {
        compressed.saturating_mul(RATIO).clamp(SMALL, LARGE).min(memory.get().unwrap_or(LARGE))
    }

    fn expand(name: &Path, kind: &str, mut from: impl Read, limit: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        from.by_ref().take(limit + 1).read_to_end(&mut bytes).map_err(|e| broken(name, kind, &e))?;
        if bytes.len() as u64 > limit {
            return Err(InputError::new(format!("the {kind} data expand to more than {limit} bytes"))
                .file(name)
                .help("if you trust the file, decompress it yourself, or raise --max-memory")
                .into());
        }
        Ok(bytes)
    }

    /// Decompresses a file of this size as it is read.
    pub(in super::super) fn decoder(
        name: &Path,
        compression: Compression,
        file: impl BufRead + Send + 'static,
        (size, memory): (u64, MemoryLimit),
    ) -> Result<Box<dyn Read + Send>> {
        let kind = compression.name();
        let decoder: Box<dyn Read + Send> = match compression {
            Compression::Gzip => Box::new(MultiGzDecoder::new(file)),
            Compression::Zstd => {
                Box::new(zstd::Decoder::with_buffer(file).map_err(|e| broken(name, kind, &e))?)
            }
            Compression::Xz => Box::new(XzReader::new_mem_limit(file, true, dictionary(memory))),
            Compression::Bzip2 => Box::new(MultiBzDecoder::new(file)),
        };
        Ok(Box::new(Limited { decoder, left: size.saturating_mul(RATIO).max(SMALL) }))
    }

    /// The memory that the dictionary of an xz file may take, in kB.
    fn dictionary(memory: MemoryLimit) -> u32 {
        (memory.get().unwrap_or(DICTIONARY).min(DICTIONARY) >> 10) as u32
    }

    /// Refuses a decompression bomb.
    struct Limited {
        decoder: Box<dyn Read + Send>,
        left: u64,
    }

    impl Read for Limited {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let read = self.decoder.read(buffer)?;
            let left = self.left.checked_sub(read as u64);
            self.left = left.ok_or_else(|| {
                std::io::Error::other(format!("it expands to more than {RATIO} times its size"))
            })?;
            Ok(read)
        }
    }

    /// A zip file in memory. Its entries are never written to disk, so their paths can't escape anywhere.
    #[derive(Clone)]
    pub(in super::super) struct Zip(ZipArchive<Cursor<Arc<[u8]>>>);

    impl Zip {
        pub fn open(name: &Path, bytes: Vec<u8>) -> Result<Self> {
            ZipArchive::new(Cursor::new(bytes.into())).map(Self).map_err(|e| broken(name, "zip", &e))
        }

        /// The files inside (no folders), each with its index.
        pub fn files(&self) -> Vec<(String, usize)> {
            let name = |i| Some((self.0.name_for_index(i)?.ok()?.replace('\\', "/"), i));
            (0..self.0.len()).filter_map(name).filter(|(name, _)| !name.ends_with('/')).collect()
        }

        /// The decompressed content of one file; `name` is for error messages.
        pub fn read(&self, name: &Path, index: usize, memory: MemoryLimit) -> Result<Decompressed> {
            let mut archive = self.0.clone();
            let entry = archive.by_index(index).map_err(|e| broken(name, "zip", &e))?;
            let limit = expansion_limit(entry.compressed_size(), memory);
            let inside = decompress(name, expand(name, "zip", entry, limit)?, memory)?;
            Ok(Decompressed { compression: inside.compression.or(Some("zip")), ..inside })
        }
    }
}

#[cfg(not(feature = "archives"))]
mod disabled {
    use std::io::Read;

    use super::{Compression, Decompressed, Path};
    use crate::memory::MemoryLimit;
    use crate::{InputError, Result};

    /// Returns the file unchanged, or an error if it is compressed.
    pub(in super::super) fn decompress(name: &Path, bytes: Vec<u8>, _: MemoryLimit) -> Result<Decompressed> {
        match Compression::of(&bytes) {
            Some(compression) => Err(unsupported(name, compression.name()).into()),
            None => Ok(Decompressed { bytes, compression: None }),
        }
    }

    /// An error: there is nothing that decompresses it.
    pub(in super::super) fn decoder(
        name: &Path,
        compression: Compression,
        _: impl Read + Send + 'static,
        _: (u64, MemoryLimit),
    ) -> Result<Box<dyn Read + Send>> {
        Err(unsupported(name, compression.name()).into())
    }

    fn unsupported(name: &Path, kind: &str) -> InputError {
        InputError::missing_feature(&format!("read {kind} files"), "archives")
            .file(name)
            .help("decompress it first, or build with the feature `archives`")
    }

    /// Never constructed: opening one is an error.
    pub(in super::super) enum Zip {}

    impl Zip {
        pub fn open(name: &Path, _: Vec<u8>) -> Result<Self> {
            Err(unsupported(name, "zip").into())
        }

        pub fn files(&self) -> Vec<(String, usize)> {
            match *self {}
        }

        pub fn read(&self, _: &Path, _: usize, _: MemoryLimit) -> Result<Decompressed> {
            match *self {}
        }
    }
}

#[cfg(all(test, feature = "archives"))]
mod tests {
    use std::io::{Read, Write};

    use super::*;
    use crate::memory::MemoryLimit;

    #[test]
    fn a_decompression_bomb_is_refused() {
        let bomb = zstd::encode_all(std::io::repeat(b'1').take(enabled::SMALL + 1), 1).unwrap();
        let refused =
            |memory| decompress(Path::new("bomb.zst"), bomb.clone(), memory).err().unwrap().to_string();
        let error = refused(MemoryLimit::default());
        assert!(error.starts_with("bomb.zst: ") && error.contains("expand to more than 67108864"), "{error}");
        let error = refused(MemoryLimit::bytes(1000));
        assert!(error.contains("expand to more than 1000 bytes"), "{error}");
    }

    #[test]
    fn concatenated_gzip_files_are_read_as_one() {
        let compress = |text: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        };
        let joined = [compress(b"1,2\n"), compress(b"3,4\n")].concat();
        let read = decompress(Path::new("a.gz"), joined, MemoryLimit::default()).unwrap();
        assert_eq!((&read.bytes[..], read.compression), (&b"1,2\n3,4\n"[..], Some("gzip")));
    }
}
