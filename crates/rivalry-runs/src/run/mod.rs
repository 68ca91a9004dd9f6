//! A run is a folder with config, log, metrics, model and checkpoint. Each file is complete or absent.

mod agreement;
mod checkpoint;
mod checkpointer;
mod closed;
mod find;
mod finished;
mod folder;
mod inspection_file;
mod output;
mod provenance;
mod quoted;
mod read;
mod record;
mod resume;
mod sharing;
mod standard_input;

pub use agreement::Agreement;
pub use checkpointer::RunCheckpointer;
pub use find::find_runs;
pub use finished::FinishedRun;
pub use folder::{RunFolder, model_file, open_model};
pub use output::output_to;
pub use provenance::Provenance;
pub use quoted::quoted;
pub use record::{DataSize, RunRecord};
pub use resume::ResumedRun;
pub use sharing::Sharing;
