//! `stdin`: the data of a run that was trained on standard input, as they were read, after a line with their checksum.

use std::io::Write;
use std::sync::Arc;

use rivalry::files::checksum::{TextFormat, damaged};
use rivalry::files::write_atomically;
use rivalry::{Error, Result};

use super::RunFolder;
use super::folder::STANDARD_INPUT;

const FORMAT: TextFormat = TextFormat { name: "rivalry-stdin", version: 2 };

impl RunFolder {
    /// Keeps the standard input that the run is trained on, so that the run can be resumed, evaluated and trained again.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn keep_standard_input(&self, content: &[u8]) -> Result<()> {
        let content = FORMAT.comment(content);
        write_atomically(&self.path().join(STANDARD_INPUT), |file| file.write_all(&content))
    }

    /// The standard input that the run was trained on, if it was.
    ///
    /// # Errors
    /// If the file can't be read or is damaged.
    pub fn standard_input(&self) -> Result<Option<Arc<[u8]>>> {
        let path = self.path().join(STANDARD_INPUT);
        match std::fs::read(&path) {
            Ok(content) => {
                let help = "restore it from a copy, or train the run again";
                FORMAT.check(&content, help).map_err(|fault| fault.file(&path))?;
                match content.iter().position(|&byte| byte == b'\n') {
                    Some(end) if content.starts_with(b"# rivalry-stdin ") => {
                        Ok(Some(content[end + 1..].into()))
                    }
                    _ => Err(damaged().file(&path).help(help).into()),
                }
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io("read", &path, e)),
        }
    }
}
