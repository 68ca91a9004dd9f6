//! Ctrl-C and its relatives: the first asks training to stop, the second ends the program at once.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

/// From now on the first signal only asks. To be called when there is something worth saving.
pub fn listen() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
}

/// Whether training was asked to stop.
pub fn stop_requested() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// A training was stopped and can be resumed.
#[derive(Debug)]
pub struct Interrupted {
    /// The folder of the run.
    pub run: PathBuf,
    /// Whole epochs done, and epochs wanted; `None` for a model without epochs.
    pub progress: Option<(usize, usize)>,
}

impl std::error::Error for Interrupted {}

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let run = self.run.display();
        match self.progress {
            Some((epoch, epochs)) => {
                writeln!(f, "stopped after {epoch} of {epochs} epochs; everything is saved in {run}")?;
            }
            None => writeln!(f, "stopped before the model was fitted; {run} holds its config")?,
        }
        write!(f, "resume with: rivalry train --resume {}", crate::output::quoted(&self.run))
    }
}

/// A sweep was stopped and can be gone on with.
#[derive(Debug)]
pub struct SweepInterrupted {
    /// Its folder.
    pub folder: PathBuf,
}

impl std::error::Error for SweepInterrupted {}

impl std::fmt::Display for SweepInterrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "stopped; everything is saved in {}", self.folder.display())?;
        write!(f, "go on with the same command")
    }
}
