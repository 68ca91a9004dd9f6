//! The status of trials, as read from their folders, and the index of a sweep.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Origin, Trial};
use crate::run::RunFolder;
use crate::{Error, Result};
use rivalry::files::checksum::TextFormat;
use rivalry::files::write_atomically;
use rivalry::train::Outcome;

/// The file that lists all trials.
pub(crate) const INDEX: &str = "index.json";

/// The file with the reason why a trial failed. A failed trial is not run again.
pub(crate) const FAILED: &str = "failed.txt";
const FAILED_FORMAT: TextFormat = TextFormat { name: "rivalry-failure", version: 2 };

/// The status of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialStatus {
    /// The trial's name, which is its folder.
    pub name: String,
    /// The settings in which the trials of the sweep differ.
    pub settings: BTreeMap<String, toml::Value>,
    /// Where they come from.
    #[serde(default)]
    pub origin: Origin,
    /// How far it has come.
    pub state: TrialState,
    /// The best validation value of the selection metric so far.
    pub valid: Option<f64>,
    /// The metrics of a finished trial.
    pub outcome: Option<Outcome>,
}

/// How far a trial has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialState {
    /// Not started.
    #[serde(rename = "waiting")]
    Pending,
    /// Started, and last evaluated after this epoch.
    #[serde(rename = "begun")]
    Running(usize),
    /// Stopped by successive halving after this epoch. Its checkpoint is gone.
    Pruned(usize),
    /// Finished.
    Finished,
    /// Failed, for this reason.
    Failed(String),
}

impl TrialState {
    /// The epoch that an unfinished trial was last evaluated after.
    pub fn last_epoch(&self) -> Option<usize> {
        match *self {
            Self::Running(epoch) | Self::Pruned(epoch) => Some(epoch),
            Self::Pending | Self::Finished | Self::Failed(_) => None,
        }
    }
}

impl TrialStatus {
    /// Reads the status of a trial of the sweep in this folder.
    pub(super) fn read(folder: &Path, trial: &Trial) -> Result<Self> {
        let path = folder.join(&trial.name);
        let mut status = Self {
            name: trial.name.clone(),
            settings: trial.settings.iter().cloned().collect(),
            origin: trial.origin.clone(),
            state: TrialState::Pending,
            valid: None,
            outcome: None,
        };
        if let Some(reason) = failure(&path)? {
            status.state = TrialState::Failed(reason);
            return Ok(status);
        }
        let Ok(folder) = RunFolder::open(&path) else { return Ok(status) };
        let metric = trial.config.eval.selection_metric();
        if let Some(record) = folder.record()? {
            status.valid = record.outcome.valid.as_ref().and_then(|valid| valid.get(&metric)).copied();
            status.outcome = Some(record.outcome);
            status.state = TrialState::Finished;
            return Ok(status);
        }
        let log = folder.log()?;
        if let Some(last) = log.last() {
            let state = if folder.has_checkpoint() { TrialState::Running } else { TrialState::Pruned };
            status.state = state(last.epoch);
        }
        let values = log.iter().filter_map(|record| record.valid.as_ref()?.get(&metric).copied());
        status.valid = values.max_by(f64::total_cmp);
        Ok(status)
    }

    /// Whether the trial has finished or failed.
    pub fn is_over(&self) -> bool {
        matches!(self.state, TrialState::Finished | TrialState::Failed(_))
    }

    /// Whether the trial is over or has been evaluated at this epoch.
    pub(super) fn has_reached(&self, epoch: Option<usize>) -> bool {
        let last = self.state.last_epoch();
        self.is_over() || epoch.zip(last).is_some_and(|(wanted, last)| last >= wanted)
    }
}

/// The reason why the trial in this folder failed, if it did.
///
/// # Errors
/// If the file can't be read or is damaged.
pub fn failure(trial: &Path) -> Result<Option<String>> {
    let help = "remove it and run the sweep again: the trial will fail again for the same reason";
    let text = FAILED_FORMAT.read(&trial.join(FAILED), help)?;
    let reason = |text: String| match text.split_once('\n') {
        Some((first, reason)) if first.starts_with('#') => reason.trim().to_owned(),
        _ => text.trim().to_owned(),
    };
    Ok(text.map(reason))
}

/// Records why a trial failed.
pub(super) fn write_failure(folder: &Path, trial: &Trial, reason: &Error) -> Result<()> {
    let content = FAILED_FORMAT.comment(format!("{reason}\n"));
    write_atomically(&folder.join(&trial.name).join(FAILED), |file| file.write_all(&content))
}

/// Writes the list of all trials, in their order.
pub(super) fn write_index(folder: &Path, statuses: &[TrialStatus]) -> Result<()> {
    write_atomically(&folder.join(INDEX), |file| {
        serde_json::to_writer_pretty(&mut *file, statuses)?;
        file.write_all(b"\n")
    })
}
