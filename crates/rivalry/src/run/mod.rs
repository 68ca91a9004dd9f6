//! A run is a folder: config, log, metrics, model and checkpoint, each file whole or not there.

mod atomic;
mod checkpoint;
mod folder;
mod lock;
mod model_file;
mod tensors;

pub use atomic::write as write_atomically;
pub use folder::{Continuing, RunFolder, RunRecord, RunStore};
pub use lock::Lock;
pub use model_file::SavedModel;
