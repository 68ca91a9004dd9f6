//! `metrics.json`: the figures of a finished run.

use std::io::Write;
use std::path::Path;

use rivalry::data::Dataset;
use rivalry::data::read::SkippedRows;
use rivalry::files::write_atomically;
use rivalry::train::Outcome;
use rivalry::{Error, InputError, Result};
use serde::{Deserialize, Serialize};

use super::folder::METRICS;
use super::{Provenance, RunFolder};

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
    /// The rows of the data that were left out because they could not be read.
    #[serde(default, skip_serializing_if = "SkippedRows::is_empty")]
    pub skipped_rows: SkippedRows,
}

impl RunFolder {
    /// The figures, if the run is finished.
    ///
    /// # Errors
    /// If the file can't be read or is damaged.
    pub fn record(&self) -> Result<Option<RunRecord>> {
        let path = self.path().join(METRICS);
        match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(|e| damaged(&path, &e)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io("read", &path, e)),
        }
    }

    /// The figures, if the run is finished and they are not damaged. Resuming the run makes damaged ones again.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn intact_record(&self) -> Result<Option<RunRecord>> {
        match self.record() {
            Err(error) if error.is_damage() => Ok(None),
            record => record,
        }
    }

    /// Writes the figures of a finished run.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn finish(&self, outcome: Outcome, dataset: &Dataset) -> Result<RunRecord> {
        let record = RunRecord {
            outcome,
            provenance: Provenance::here(),
            seed: self.config()?.seed,
            data: dataset.name.clone(),
            data_checksum: dataset.checksum.clone(),
            skipped_rows: dataset.skipped.clone(),
        };
        write_atomically(&self.path().join(METRICS), |file| {
            serde_json::to_writer_pretty(&mut *file, &record)?;
            file.write_all(b"\n")
        })?;
        Ok(record)
    }
}

fn damaged(path: &Path, fault: &serde_json::Error) -> Error {
    InputError::new(format!("not the metrics of a run: {fault}"))
        .file(path)
        .line(fault.line() as u64)
        .help("the file is damaged: restore it from a copy, or make it again with rivalry train --resume")
        .damage()
        .into()
}
