//! SHA-256 digests in hex, which identify files and data sets.

use std::{fmt::Write as _, fs::File, io::Read, path::Path};

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// Computes a digest incrementally.
#[derive(Default)]
pub(crate) struct Hasher(Sha256);

impl Hasher {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest as 64 lower-case hex digits.
    pub fn hex(self) -> String {
        self.0.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

/// The digest of a file.
///
/// # Errors
/// If the file can't be read.
pub fn of_file(path: &Path) -> Result<String> {
    let fail = |source| Error::io("read", path, source);
    let mut file = File::open(path).map_err(fail)?;
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(fail)? {
            0 => return Ok(hasher.hex()),
            n => hasher.update(&buffer[..n]),
        }
    }
}

/// The digest of bytes in memory, as 64 lower-case hex digits.
pub fn of_bytes(bytes: &[u8]) -> String {
    let mut hasher = Hasher::default();
    hasher.update(bytes);
    hasher.hex()
}
