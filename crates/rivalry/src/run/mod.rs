//! A run is a folder: config, log, metrics, model and checkpoint, each file whole or not there.

mod agreement;
mod checkpoint;
mod find;
mod finished;
mod folder;
mod inspection_file;
mod model_file;
mod origin;
mod quoted;
mod read;
mod tensors;

pub use agreement::Agreement;
pub use find::find_runs;
pub use finished::FinishedRun;
pub use folder::{Continuing, RunFolder, RunRecord, RunStore};
pub use model_file::SavedModel;
pub use origin::Origin;
pub use quoted::quoted;
