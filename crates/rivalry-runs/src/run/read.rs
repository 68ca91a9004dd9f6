//! Reading the files of a run.

use std::path::Path;

use super::RunFolder;
use super::folder::{CONFIG, INSPECTION, LOG};
use crate::inspect::Inspection;
use crate::{Error, InputError, Result};
use rivalry::config::{Config, read_layer};
use rivalry::train::Record;

impl RunFolder {
    /// The config of the run.
    pub fn config(&self) -> Result<Config> {
        let path = self.path().join(CONFIG);
        Config::from_layers(&[read_layer(&path)?]).map_err(|error| match error {
            Error::Input(error) => error.file(path).into(),
            other => other,
        })
    }

    /// The evaluations of the run, in order; empty if there was none yet.
    pub fn log(&self) -> Result<Vec<Record>> {
        let path = self.path().join(LOG);
        let text = text_of(&path)?.unwrap_or_default();
        let record = |(line, text): (u64, &str)| {
            serde_json::from_str(text).map_err(|e| {
                InputError::new(format!("not a record of an evaluation: {e}"))
                    .file(&path)
                    .line(line)
                    .help("the file is damaged: restore it from a copy, or train the run again")
                    .into()
            })
        };
        (1..).zip(text.lines()).map(record).collect()
    }

    /// The last inspection of the run's model, if there is one.
    pub fn inspection(&self) -> Result<Option<Inspection>> {
        let path = self.path().join(INSPECTION);
        let Some(text) = text_of(&path)? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|e| {
            InputError::new(format!("not an inspection: {e}"))
                .file(&path)
                .line(e.line() as u64)
                .help("make it again: rivalry inspect")
                .into()
        })
    }
}

/// The text of a file, if it exists.
fn text_of(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) if e.kind() == std::io::ErrorKind::InvalidData => {
            Err(InputError::new("not UTF-8 text").file(path).into())
        }
        Err(e) => Err(Error::io("read", path, e)),
    }
}
