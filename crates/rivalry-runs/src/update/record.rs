//! `update.json`: what came into a run.

use std::path::PathBuf;

use rivalry::files::checksum::TextFormat;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::json_file::JsonFile;
use crate::run::{Provenance, RunFolder};

const FILE: JsonFile = JsonFile {
    format: TextFormat { name: "rivalry-update", version: 1 },
    content: "the record of an update",
    help: "restore it from a copy, or make the update again",
};

/// What came into a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpdateRecord {
    /// The run that was updated.
    pub of: PathBuf,
    /// The checksum of its data.
    pub of_data: String,
    /// Users that the run did not know.
    pub new_users: usize,
    /// Items that the run did not know.
    pub new_items: usize,
    /// The logs, in their order.
    pub logs: Vec<NewLogRecord>,
    /// The program and machine.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// What came in from one log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewLogRecord {
    /// Its path.
    pub source: String,
    /// Its rows.
    pub rows: usize,
    /// Rows with a lower rating than the run keeps.
    pub low_rated: usize,
    /// Pairs of a user and an item that were not known.
    pub new_pairs: usize,
}

impl UpdateRecord {
    /// Pairs of a user and an item that were not known.
    pub fn new_pairs(&self) -> usize {
        self.logs.iter().map(|log| log.new_pairs).sum()
    }
}

impl RunFolder {
    /// What came into the run, if it is an update of another.
    ///
    /// # Errors
    /// If the file can't be read or is damaged.
    pub fn update(&self) -> Result<Option<UpdateRecord>> {
        FILE.read(&self.update_path())
    }

    /// Records what came in.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn write_update(&self, record: &UpdateRecord) -> Result<()> {
        FILE.write(&self.update_path(), record)
    }
}
