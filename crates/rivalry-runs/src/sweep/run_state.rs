//! How far a run has come, read from its folder after the sweep or training that made it.

use std::fmt;

use super::failure;
use crate::Result;
use crate::run::RunFolder;

/// How far a run has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It was trained to its end and has metrics.
    Finished,
    /// A sweep's successive halving stopped it early.
    Pruned,
    /// Its training failed in a sweep, for this reason.
    Failed(String),
    /// It can be resumed.
    Unfinished,
}

impl RunState {
    /// The state of the run in this folder. A run that was evaluated, is not finished and has no checkpoint was pruned:
    /// halving removes the checkpoints of the trials it stops.
    ///
    /// # Errors
    /// If a file of the run can't be read or is damaged.
    pub fn of(folder: &RunFolder) -> Result<Self> {
        Ok(if folder.record()?.is_some() {
            Self::Finished
        } else if let Some(reason) = failure(folder.path())? {
            Self::Failed(reason)
        } else if !folder.has_checkpoint() && !folder.log()?.is_empty() {
            Self::Pruned
        } else {
            Self::Unfinished
        })
    }

    /// Whether its setting counts as tried: nothing more will come of the run.
    pub fn is_over(&self) -> bool {
        *self != Self::Unfinished
    }
}

/// `finished`, `pruned`, `failed` or `unfinished`.
impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finished => "finished",
            Self::Pruned => "pruned",
            Self::Failed(_) => "failed",
            Self::Unfinished => "unfinished",
        })
    }
}
