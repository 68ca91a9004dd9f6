//! `stdin`: the data of a run that was trained on standard input, as they were read.

use std::io::Write;
use std::sync::Arc;

use rivalry::files::write_atomically;
use rivalry::{Error, Result};

use super::RunFolder;
use super::folder::STANDARD_INPUT;

impl RunFolder {
    /// Keeps the standard input that the run is trained on, so that the run can be resumed, evaluated and trained again.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn keep_standard_input(&self, content: &[u8]) -> Result<()> {
        write_atomically(&self.path().join(STANDARD_INPUT), |file| file.write_all(content))
    }

    /// The standard input that the run was trained on, if it was. Damage shows in the checksum of the data.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn standard_input(&self) -> Result<Option<Arc<[u8]>>> {
        let path = self.path().join(STANDARD_INPUT);
        match std::fs::read(&path) {
            Ok(content) => Ok(Some(content.into())),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io("read", &path, e)),
        }
    }
}
