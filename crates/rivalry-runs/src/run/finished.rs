//! A finished run as it is read back: what was asked for, what came out, and how it went.

use std::path::Path;

use super::RunFolder;
use super::RunRecord;
use super::folder::LOG;
use crate::{InputError, Result};
use rivalry::config::Config;
use rivalry::train::Record;

/// A run that has its figures.
#[derive(Clone, Debug)]
pub struct FinishedRun {
    /// Where it is.
    pub folder: RunFolder,
    /// How it was trained.
    pub config: Config,
    /// What came out.
    pub record: RunRecord,
    /// One record an evaluation.
    pub history: Vec<Record>,
}

impl FinishedRun {
    /// Reads all of a run but its model.
    ///
    /// # Errors
    /// If there is no run, it is not finished, or a file of it is damaged; the error says which, and in which line.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Err(InputError::new("there is no such folder").file(path).into());
        }
        let folder = RunFolder::open(path)?;
        let config = folder.config()?;
        let Some(record) = folder.record()? else {
            return Err(InputError::new("the run is not finished: it has no metrics.json")
                .file(path)
                .help(format!(
                    "let it finish: rivalry train --resume {}; a sweep's trial by giving the sweep again",
                    path.display()
                ))
                .into());
        };
        let history = folder.log()?;
        let best = record.outcome.training.as_ref().map(|training| training.best_epoch);
        if let Some(best) = best.filter(|best| !history.iter().any(|evaluated| evaluated.epoch == *best)) {
            return Err(InputError::new(format!(
                "has no evaluation of epoch {best}, which metrics.json is of"
            ))
            .file(path.join(LOG))
            .help("the files are of different runs: train it again")
            .into());
        }
        Ok(Self { folder, config, record, history })
    }
}
