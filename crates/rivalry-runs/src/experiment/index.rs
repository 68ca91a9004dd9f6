//! How the trials of an experiment stand, by what is on the disk, and the file that lists it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Trial;
use crate::run::RunFolder;
use crate::{Error, Result};
use rivalry::files::write_atomically;
use rivalry::train::Outcome;

/// The list of all trials.
const INDEX: &str = "index.json";

/// What made a trial fail; with it, it is over.
const FAILED: &str = "failed.txt";

/// How one trial stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// The trial's name, which is its folder.
    pub name: String,
    /// The settings by which it differs from the others.
    pub settings: BTreeMap<String, toml::Value>,
    /// How far it is.
    pub state: State,
    /// The best value on the validation part so far, of the metric epochs are chosen by.
    pub valid: Option<f64>,
    /// Its figures, if it is finished.
    pub outcome: Option<Outcome>,
}

/// How far a trial is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Nothing is there yet.
    Waiting,
    /// Begun, and evaluated after this epoch for the last time.
    Begun(usize),
    /// All done.
    Finished,
    /// It can't be done, for this reason.
    Failed(String),
}

impl Standing {
    /// How a trial of the experiment in this folder stands.
    pub(super) fn read(lab: &Path, trial: &Trial) -> Result<Self> {
        let path = lab.join(&trial.name);
        let mut standing = Self {
            name: trial.name.clone(),
            settings: trial.settings.iter().cloned().collect(),
            state: State::Waiting,
            valid: None,
            outcome: None,
        };
        if let Some(reason) = failure(&path) {
            standing.state = State::Failed(reason);
            return Ok(standing);
        }
        let Ok(folder) = RunFolder::open(&path) else { return Ok(standing) };
        let metric = trial.config.eval.selection_metric();
        if let Some(record) = folder.record()? {
            standing.valid = record.outcome.valid.as_ref().and_then(|valid| valid.get(&metric)).copied();
            standing.outcome = Some(record.outcome);
            standing.state = State::Finished;
            return Ok(standing);
        }
        let log = folder.log()?;
        if let Some(last) = log.last() {
            standing.state = State::Begun(last.epoch);
        }
        let values = log.iter().filter_map(|record| record.valid.as_ref()?.get(&metric).copied());
        standing.valid = values.max_by(f64::total_cmp);
        Ok(standing)
    }

    /// Whether there is nothing left to do.
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Finished | State::Failed(_))
    }

    /// Whether there is nothing left to do until this epoch.
    pub(super) fn has_reached(&self, epoch: Option<usize>) -> bool {
        let begun = |wanted| matches!(self.state, State::Begun(epoch) if epoch >= wanted);
        self.is_over() || epoch.is_some_and(begun)
    }
}

/// Why the trial in this folder can't be done, if it can't.
pub fn failure(trial: &Path) -> Option<String> {
    let reason = std::fs::read_to_string(trial.join(FAILED)).ok()?;
    Some(reason.trim().to_owned())
}

/// Writes down why a trial can't be done.
pub(super) fn write_failure(lab: &Path, trial: &Trial, reason: &Error) -> Result<()> {
    write_atomically(&lab.join(&trial.name).join(FAILED), |file| writeln!(file, "{reason}"))
}

/// Writes the list of all trials, in their order.
pub(super) fn write(lab: &Path, standings: &[Standing]) -> Result<()> {
    write_atomically(&lab.join(INDEX), |file| {
        serde_json::to_writer_pretty(&mut *file, standings)?;
        file.write_all(b"\n")
    })
}
