//! The inspection of a run's model, kept in its folder.

use std::io::Write;
use std::path::PathBuf;

use super::RunFolder;
use super::atomic;
use super::folder::INSPECTION;
use crate::inspect::Inspection;
use crate::{Error, InputError, Result};

impl RunFolder {
    /// Where the inspection is kept.
    pub fn inspection_path(&self) -> PathBuf {
        self.path().join(INSPECTION)
    }

    /// What the last inspection of the run's model found, if there was one.
    pub fn inspection(&self) -> Result<Option<Inspection>> {
        let path = self.inspection_path();
        match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(|e| {
                InputError::new(format!("not an inspection: {e}"))
                    .file(&path)
                    .line(e.line() as u64)
                    .help("make it again: rivalry inspect")
                    .into()
            }),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io("read", &path, e)),
        }
    }

    /// Keeps an inspection of the run's model, in the place of an earlier one. It goes when the model changes.
    pub fn keep_inspection(&self, inspection: &Inspection) -> Result<()> {
        atomic::write(&self.inspection_path(), |file| {
            serde_json::to_writer_pretty(&mut *file, inspection)?;
            file.write_all(b"\n")
        })
    }
}
