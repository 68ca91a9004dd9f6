//! Long work on threads of its own, without the GIL.
//!
//! Threads are created for each call and end with it: a global pool would not survive a fork, and creating one costs less
//! than ranking the items for a single user. Meanwhile the calling thread releases the GIL and takes it back every
//! [`POLL`] to check for signals (Ctrl-C).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::raise;

/// The interval between two checks for signals.
const POLL: Duration = Duration::from_millis(50);

/// Runs the work without the GIL and returns its result. A signal ends the call at once; the work, which can't be
/// cancelled but touches no Python object, is left to finish in the background.
pub fn run_detached<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce() -> rivalry::Result<T> + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    spawn(threads, move || {
        // The receiver is gone if a signal ended the call.
        let _ = sender.send(work());
    })?;
    loop {
        if let Some(result) = receive(py, &mut receiver)? {
            return result.map_err(raise);
        }
        py.check_signals()?;
    }
}

/// Starts the work on a new pool of that many threads (0: one per core), which its parallel parts run on, too.
pub fn spawn(threads: usize, work: impl FnOnce() + Send + 'static) -> PyResult<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| PyRuntimeError::new_err(format!("can't start threads: {e}")))?;
    // A panic message has already been written to stderr; the receiver sees that the channel is closed.
    pool.spawn(move || drop(catch_unwind(AssertUnwindSafe(work))));
    Ok(())
}

/// The number of cores that this process may use.
#[pyfunction]
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The next message, or none if it doesn't arrive within [`POLL`].
pub fn receive<T: Send>(py: Python<'_>, receiver: &mut Receiver<T>) -> PyResult<Option<T>> {
    match py.detach(move || receiver.recv_timeout(POLL)) {
        Ok(message) => Ok(Some(message)),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(PyRuntimeError::new_err(
            "internal error in rivalry\n  help: please report it with the message on stderr",
        )),
    }
}
