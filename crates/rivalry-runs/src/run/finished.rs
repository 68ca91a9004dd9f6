//! Finished runs.

use std::path::Path;

use super::RunFolder;
use super::RunRecord;
use super::folder::LOG;
use crate::{InputError, Result};
use rivalry::config::Config;
use rivalry::train::Record;

/// A finished run.
#[derive(Clone, Debug)]
pub struct FinishedRun {
    /// Its folder.
    pub folder: RunFolder,
    /// Its config.
    pub config: Config,
    /// Its metrics.
    pub record: RunRecord,
    /// One record per evaluation.
    pub history: Vec<Record>,
}

impl FinishedRun {
    /// Reads everything of a run but its model.
    ///
    /// # Errors
    /// If there is no run, it is not finished, or a file of it is damaged; the error says which, and in which line.
    pub fn open(path: &Path) -> Result<Self> {
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
