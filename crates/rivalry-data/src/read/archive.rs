//! Decompresses gzip, Zstandard and zip files in memory, within limits.

use std::path::Path;

#[cfg(not(feature = "archives"))]
pub(super) use disabled::{Zip, decompress};
#[cfg(feature = "archives")]
pub(super) use enabled::{Zip, decompress};

/// Whether these are the first bytes of a zip file.
pub(super) fn is_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")
}

fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

fn is_zstd(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
}

#[cfg(feature = "archives")]
mod enabled {
    use std::io::{Cursor, Read};
    use std::sync::Arc;

    use flate2::read::MultiGzDecoder;
    use zip::ZipArchive;

    use super::{Path, is_gzip, is_zstd};
    use crate::memory::MemoryLimit;
    use crate::{Error, InputError, Result};

    /// A file may always expand to `SMALL`, beyond that to `RATIO` times its compressed size, and never past `LARGE`.
    /// Interaction logs compress about ten to one; a much higher ratio means a decompression bomb.
    pub(super) const SMALL: u64 = 64 << 20;
    const RATIO: u64 = 250;
    const LARGE: u64 = 4 << 30;

    /// The content of a gzip or Zstandard file, recognised by its first bytes; other files are returned unchanged.
    pub(in super::super) fn decompress(name: &Path, bytes: Vec<u8>, memory: MemoryLimit) -> Result<Vec<u8>> {
        let compressed = bytes.len() as u64;
        if is_gzip(&bytes) {
            let limit = expansion_limit(compressed, memory);
            return expand(name, "gzip", MultiGzDecoder::new(&bytes[..]), limit);
        }
        if is_zstd(&bytes) {
            let decoder = zstd::Decoder::with_buffer(&bytes[..]).map_err(|e| broken(name, "zstd", &e))?;
            return expand(name, "zstd", decoder, expansion_limit(compressed, memory));
        }
        Ok(bytes)
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

    fn broken(name: &Path, kind: &str, error: &dyn std::fmt::Display) -> Error {
        InputError::new(format!("broken {kind} file: {error}"))
            .file(name)
            .help("it may be truncated: copy or download it again")
            .into()
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
        pub fn read(&self, name: &Path, index: usize, memory: MemoryLimit) -> Result<Vec<u8>> {
            let mut archive = self.0.clone();
            let entry = archive.by_index(index).map_err(|e| broken(name, "zip", &e))?;
            let limit = expansion_limit(entry.compressed_size(), memory);
            decompress(name, expand(name, "zip", entry, limit)?, memory)
        }
    }
}

#[cfg(not(feature = "archives"))]
mod disabled {
    use super::{Path, is_gzip, is_zstd};
    use crate::memory::MemoryLimit;
    use crate::{InputError, Result};

    /// Returns the file unchanged, or an error if it is compressed.
    pub(in super::super) fn decompress(name: &Path, bytes: Vec<u8>, _: MemoryLimit) -> Result<Vec<u8>> {
        if is_gzip(&bytes) || is_zstd(&bytes) {
            return Err(unsupported(name).into());
        }
        Ok(bytes)
    }

    fn unsupported(name: &Path) -> InputError {
        InputError::missing_feature("read gzip, Zstandard or zip files", "archives")
            .file(name)
            .help("decompress it first, or build with the feature `archives`")
    }

    /// Never constructed: opening one is an error.
    pub(in super::super) enum Zip {}

    impl Zip {
        pub fn open(name: &Path, _: Vec<u8>) -> Result<Self> {
            Err(unsupported(name).into())
        }

        pub fn files(&self) -> Vec<(String, usize)> {
            match *self {}
        }

        pub fn read(&self, _: &Path, _: usize, _: MemoryLimit) -> Result<Vec<u8>> {
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
            |memory| decompress(Path::new("bomb.zst"), bomb.clone(), memory).unwrap_err().to_string();
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
        assert_eq!(decompress(Path::new("a.gz"), joined, MemoryLimit::default()).unwrap(), b"1,2\n3,4\n");
    }
}
