//! SHA-256 in hex: how files and data sets are told apart.

use std::{fmt::Write as _, fs::File, io::Read, path::Path};

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// A SHA-256 sum in the making.
#[derive(Default)]
pub(crate) struct Sum(Sha256);

impl Sum {
    /// Adds bytes.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The sum of everything added, as 64 lower-case hex digits.
    pub(crate) fn hex(self) -> String {
        self.0.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

/// The sum of a file.
pub(crate) fn of_file(path: &Path) -> Result<String> {
    let fail = |source| Error::io("read", path, source);
    let mut file = File::open(path).map_err(fail)?;
    let mut sum = Sum::default();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(fail)? {
            0 => return Ok(sum.hex()),
            n => sum.update(&buffer[..n]),
        }
    }
}

/// The sum of some bytes.
pub fn of_bytes(bytes: &[u8]) -> String {
    let mut sum = Sum::default();
    sum.update(bytes);
    sum.hex()
}
