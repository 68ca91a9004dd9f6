//! The inspection of a run's model, kept in its folder.

use std::io::Write;
use std::path::PathBuf;

use super::RunFolder;
use super::folder::INSPECTION;
use crate::Result;
use crate::inspect::Inspection;
use rivalry::files::write_atomically;

impl RunFolder {
    /// Where the inspection is kept.
    pub fn inspection_path(&self) -> PathBuf {
        self.path().join(INSPECTION)
    }

    /// Keeps an inspection of the run's model, in the place of an earlier one. It goes when the model changes.
    pub fn keep_inspection(&self, inspection: &Inspection) -> Result<()> {
        write_atomically(&self.inspection_path(), |file| {
            serde_json::to_writer_pretty(&mut *file, inspection)?;
            file.write_all(b"\n")
        })
    }
}
