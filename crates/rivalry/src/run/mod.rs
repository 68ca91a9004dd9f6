//! A run is a folder: config, log, metrics, model and checkpoint, each file whole or not there.

mod atomic;
mod checkpoint;
mod finished;
mod folder;
mod inspection_file;
mod model_file;
mod read;
mod tensors;

pub use atomic::write as write_atomically;
pub use finished::FinishedRun;
pub use folder::{Continuing, RunFolder, RunRecord, RunStore};
pub use model_file::SavedModel;
