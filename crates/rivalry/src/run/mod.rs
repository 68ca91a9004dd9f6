//! A run is a folder: config, log, metrics, model and checkpoint, each file whole or not there.

mod atomic;
mod checkpoint;
mod finished;
mod folder;
mod inspection_file;
mod lock;
mod model_file;
mod read;
mod tensors;

pub use atomic::write as write_atomically;
pub use finished::FinishedRun;
pub use folder::{Continuing, RunFolder, RunRecord, RunStore};
pub use lock::Lock;
pub use model_file::SavedModel;
