//! `metrics.json`: the figures of a finished run.

use rivalry::Result;
use rivalry::data::read::SkippedRows;
use rivalry::data::{AppliedSplit, Dataset};
use rivalry::files::checksum::TextFormat;
use rivalry::train::Outcome;
use serde::{Deserialize, Serialize};

use super::folder::METRICS;
use super::{Provenance, RunFolder, Sharing};
use crate::json_file::JsonFile;

const FILE: JsonFile = JsonFile {
    format: TextFormat { name: "rivalry-metrics", version: 2 },
    content: "the metrics of a run",
    help: "restore it from a copy, or make it again: rivalry train --resume RUN",
};

/// The figures of a run, and how they were obtained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The figures.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The program and machine that produced them.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The seed.
    #[serde(default)]
    pub seed: u64,
    /// The name of the data.
    pub data: String,
    /// The checksum of the data.
    pub data_checksum: String,
    /// How the data were split; `None` in records from before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<AppliedSplit>,
    /// The rows of the data that were left out because they could not be read.
    #[serde(default, skip_serializing_if = "SkippedRows::is_empty")]
    pub skipped_rows: SkippedRows,
    /// The size of the data; `None` in records from before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_size: Option<DataSize>,
    /// How several processes shared the training, if they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
}

/// The size of a data set and of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DataSize {
    /// The number of users.
    pub users: usize,
    /// The number of items.
    pub items: usize,
    /// Interactions in the training set.
    pub train: usize,
    /// Interactions in the validation set.
    pub valid: usize,
    /// Interactions in the test set.
    pub test: usize,
}

impl DataSize {
    /// The size of this data set.
    pub fn of(dataset: &Dataset) -> Self {
        Self {
            users: dataset.users.len(),
            items: dataset.items.len(),
            train: dataset.train.len(),
            valid: dataset.valid.len(),
            test: dataset.test.len(),
        }
    }
}

impl RunFolder {
    /// The figures, if the run is finished.
    ///
    /// # Errors
    /// If the file can't be read or is damaged.
    pub fn record(&self) -> Result<Option<RunRecord>> {
        FILE.read(&self.path().join(METRICS))
    }

    /// Writes the figures of a finished run.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn finish(&self, outcome: Outcome, dataset: &Dataset) -> Result<RunRecord> {
        self.finish_shared(outcome, dataset, None)
    }

    /// The same for a training that several processes shared.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn finish_shared(
        &self,
        outcome: Outcome,
        dataset: &Dataset,
        sharing: Option<Sharing>,
    ) -> Result<RunRecord> {
        let record = RunRecord {
            outcome,
            provenance: Provenance::here(),
            seed: self.config()?.seed,
            data: dataset.name.clone(),
            data_checksum: dataset.checksum.clone(),
            split: dataset.split.clone(),
            skipped_rows: dataset.skipped.clone(),
            data_size: Some(DataSize::of(dataset)),
            sharing,
        };
        FILE.write(&self.path().join(METRICS), &record)?;
        Ok(record)
    }
}
