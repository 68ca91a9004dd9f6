//! Takes gzip, Zstandard and zip wrappings off, in memory and within limits.

use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use zip::ZipArchive;

use crate::{Error, InputError, Result, memory};

/// A file may always grow to `SMALL`, beyond that to `RATIO` times its packed size, and never past `LARGE`.
/// Logs of interactions pack about ten to one; a file far beyond that was made to fill the memory.
const SMALL: u64 = 64 << 20;
const RATIO: u64 = 250;
const LARGE: u64 = 4 << 30;

/// The bytes inside a gzip or Zstandard file, told by its first bytes; any other file's bytes as they are.
pub(super) fn unpack(name: &Path, bytes: Vec<u8>) -> Result<Vec<u8>> {
    let packed = bytes.len() as u64;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return expand(name, "gzip", MultiGzDecoder::new(&bytes[..]), packed);
    }
    if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let decoder = zstd::Decoder::with_buffer(&bytes[..]).map_err(|e| broken(name, "zstd", &e))?;
        return expand(name, "zstd", decoder, packed);
    }
    Ok(bytes)
}

fn expand(name: &Path, kind: &str, mut from: impl Read, packed: u64) -> Result<Vec<u8>> {
    let limit = packed.saturating_mul(RATIO).clamp(SMALL, LARGE).min(memory::limit().unwrap_or(LARGE));
    let mut bytes = Vec::new();
    from.by_ref().take(limit + 1).read_to_end(&mut bytes).map_err(|e| broken(name, kind, &e))?;
    if bytes.len() as u64 > limit {
        return Err(InputError::new(format!("{packed} packed bytes expand to more than {limit}"))
            .file(name)
            .help("if you trust it, unpack it yourself, or raise --max-memory")
            .into());
    }
    Ok(bytes)
}

fn broken(name: &Path, kind: &str, error: &dyn std::fmt::Display) -> Error {
    InputError::new(format!("broken {kind} file: {error}"))
        .file(name)
        .help("it may have been cut short: copy or download it again")
        .into()
}

/// A zip file in memory. Nothing in it is ever written to disk, so its entries' paths can't lead anywhere.
#[derive(Clone)]
pub(super) struct Zip(ZipArchive<Cursor<Arc<[u8]>>>);

impl Zip {
    /// Whether these are a zip file's first bytes.
    pub fn is_one(bytes: &[u8]) -> bool {
        bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")
    }

    pub fn open(name: &Path, bytes: Vec<u8>) -> Result<Self> {
        ZipArchive::new(Cursor::new(bytes.into())).map(Self).map_err(|e| broken(name, "zip", &e))
    }

    /// The files inside, each with its number; folders are left out.
    pub fn files(&self) -> Vec<(String, usize)> {
        let name = |i| Some((self.0.name_for_index(i)?.ok()?.replace('\\', "/"), i));
        (0..self.0.len()).filter_map(name).filter(|(name, _)| !name.ends_with('/')).collect()
    }

    /// The bytes of one file; `name` is what errors call it.
    pub fn read(&self, name: &Path, number: usize) -> Result<Vec<u8>> {
        let mut archive = self.0.clone();
        let entry = archive.by_index(number).map_err(|e| broken(name, "zip", &e))?;
        let packed = entry.compressed_size();
        unpack(name, expand(name, "zip", entry, packed)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_made_to_fill_the_memory_is_refused() {
        let bomb = zstd::encode_all(std::io::repeat(b'1').take(SMALL + 1), 1).unwrap();
        let error = unpack(Path::new("bomb.zst"), bomb).unwrap_err().to_string();
        assert!(error.starts_with("bomb.zst: ") && error.contains("expand to more than 67108864"), "{error}");
    }

    #[test]
    fn gzip_files_joined_end_to_end_are_one() {
        let pack = |text: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        };
        let joined = [pack(b"1,2\n"), pack(b"3,4\n")].concat();
        assert_eq!(unpack(Path::new("a.gz"), joined).unwrap(), b"1,2\n3,4\n");
    }
}
