//! A run is a folder: config, log, metrics, model and checkpoint, each file whole or not there.

mod atomic;
mod checkpoint;
mod find;
mod finished;
mod folder;
mod inspection_file;
mod lock;
mod model_file;
mod quoted;
mod read;
mod tensors;

pub use atomic::write as write_atomically;
pub use find::find_runs;
pub use finished::FinishedRun;
pub use folder::{Continuing, RunFolder, RunRecord, RunStore};
pub use lock::Lock;
pub use model_file::SavedModel;
pub use quoted::quoted;
