//! The inspection of a run's model, kept in its folder.

use std::path::PathBuf;

use super::RunFolder;
use super::folder::INSPECTION;
use crate::Result;
use crate::inspect::Inspection;
use crate::json_file::JsonFile;
use rivalry::files::checksum::TextFormat;

const FILE: JsonFile = JsonFile {
    format: TextFormat { name: "rivalry-inspection", version: 2 },
    content: "an inspection",
    help: "make it again: rivalry inspect RUN",
};

impl Inspection {
    /// The content of an inspection file.
    pub fn to_json(&self) -> Vec<u8> {
        FILE.content_of(self)
    }
}

impl RunFolder {
    /// Where the inspection is kept. It goes when the model changes.
    pub fn inspection_path(&self) -> PathBuf {
        self.path().join(INSPECTION)
    }

    /// Keeps an inspection of the run's model in its folder.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn keep_inspection(&self, inspection: &Inspection) -> Result<()> {
        FILE.write(&self.inspection_path(), inspection)
    }

    /// The last inspection of the run's model, if there is one.
    ///
    /// # Errors
    /// If the file can't be read or is damaged.
    pub fn inspection(&self) -> Result<Option<Inspection>> {
        FILE.read(&self.inspection_path())
    }
}
