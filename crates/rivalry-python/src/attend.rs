//! Work on threads of its own, while the calling thread keeps listening to Python.
//!
//! Threads are made for each call and end with it: a pool that outlives a call would not survive a fork, and making
//! one costs less than ranking a single user. While they work, the calling thread has given Python's lock away and
//! takes it back now and then to see whether a signal (Ctrl-C) is waiting.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::raise;

/// How long a signal may wait.
const POLL: Duration = Duration::from_millis(50);

/// Does the work and gives its result. On a signal the call ends at once; the work, which can't be stopped but touches
/// nothing of Python's, is left to finish by itself.
pub fn attend<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce() -> rivalry::Result<T> + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    start(threads, move || {
        // Nobody listens any more if a signal came.
        let _ = sender.send(work());
    })?;
    loop {
        if let Some(result) = wait(py, &mut receiver)? {
            return result.map_err(raise);
        }
        py.check_signals()?;
    }
}

/// Starts work on that many threads (0: as many as there are cores). Its parallel parts run on the same threads.
pub fn start(threads: usize, work: impl FnOnce() + Send + 'static) -> PyResult<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| PyRuntimeError::new_err(format!("can't start the threads: {e}")))?;
    // A panic has already been written to stderr; whoever waits sees that the channel is closed.
    pool.spawn(move || drop(catch_unwind(AssertUnwindSafe(work))));
    Ok(())
}

/// The next message, or none if it doesn't come soon.
pub fn wait<T: Send>(py: Python<'_>, receiver: &mut Receiver<T>) -> PyResult<Option<T>> {
    match py.detach(move || receiver.recv_timeout(POLL)) {
        Ok(message) => Ok(Some(message)),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => {
            Err(PyRuntimeError::new_err("a fault inside rivalry; what is on stderr would help to mend it"))
        }
    }
}
