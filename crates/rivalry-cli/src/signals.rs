//! Signal handling: the first SIGINT, SIGTERM or SIGHUP asks a training to stop, the second ends the process at once.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

/// Installs the signal handler. Until then a signal ends the process.
pub fn listen() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
}

/// Whether a signal has been received.
pub fn stop_requested() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// Forgets a signal that was received: what it asked for is done.
pub fn forget() {
    STOP.store(false, Ordering::Relaxed);
}

/// The error of a training that was interrupted and can be resumed.
#[derive(Debug)]
pub struct Interrupted {
    /// The run folder.
    pub run: PathBuf,
    /// `None` for a model without epochs.
    pub progress: Option<EpochProgress>,
}

/// How far an interrupted training got.
#[derive(Clone, Copy, Debug)]
pub struct EpochProgress {
    /// Completed epochs.
    pub done: usize,
    /// Epochs in total.
    pub total: usize,
}

impl std::error::Error for Interrupted {}

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let run = self.run.display();
        match self.progress {
            Some(EpochProgress { done, total }) => {
                writeln!(f, "interrupted after {done} of {total} epochs; progress is saved in {run}")?;
            }
            None => writeln!(f, "interrupted before the model was fitted; {run} contains its config")?,
        }
        write!(f, "resume with: rivalry train --resume {}", crate::output::quoted(&self.run))
    }
}

/// The error of a sweep that was interrupted and can be resumed.
#[derive(Debug)]
pub struct SweepInterrupted {
    /// The sweep folder.
    pub folder: PathBuf,
}

impl std::error::Error for SweepInterrupted {}

impl std::fmt::Display for SweepInterrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "interrupted; progress is saved in {}", self.folder.display())?;
        write!(f, "resume with the same command")
    }
}
