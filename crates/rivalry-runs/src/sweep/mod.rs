//! Sweeps: many trials over a [`SearchSpace`], in one [`SweepFolder`] that several processes may share and that survives
//! the death of any of them.

mod draft;
mod edges;
mod folder;
mod grid;
mod halving;
mod lease;
mod next;
mod result;
mod run_state;
mod run_trial;
mod select;
mod shard;
mod space;
mod status;
#[cfg(test)]
mod tests;
mod trial;
mod values;
mod workers;

pub use edges::Edge;
pub use folder::{SweepFolder, SweepOptions};
pub use grid::{LossGrid, is_closed_form};
pub use halving::Halving;
pub use next::NextTrial;
pub use result::{SelectedTrial, SweepResult, selected_runs};
pub use run_state::RunState;
pub use run_trial::{Rung, Stop, SweepObserver, TrialEvent};
pub use shard::Shard;
pub use space::SearchSpace;
pub use status::{TrialState, TrialStatus, failure};
pub use trial::{Origin, Trial, TrialGroup};

pub(crate) use result::SELECTED;
pub(crate) use status::{FAILED, INDEX};
