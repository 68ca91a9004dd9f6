//! Parallel execution of trials.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::run_trial::{Attempt, run_trial};
use super::{SweepFolder, SweepObserver, SweepOptions, Trial};
use crate::{InputError, Result};

/// The interval between checks whether another process has released a trial.
const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// Runs trials of a sweep in parallel.
pub(super) struct Workers<'a> {
    pub folder: &'a SweepFolder,
    /// All trials of the sweep, for the index.
    pub all: &'a [Trial],
    pub options: &'a SweepOptions,
    pub observer: &'a dyn SweepObserver,
}

impl Workers<'_> {
    /// Runs every trial up to the epoch that `last_epoch` gives, or to its end. `false` if the observer asked to stop.
    pub fn run(
        &self,
        trials: &[Trial],
        last_epoch: &(dyn Fn(&Trial) -> Option<usize> + Sync),
    ) -> Result<bool> {
        let mut open: Vec<&Trial> = trials.iter().collect();
        if let Some(shard) = self.options.shard {
            shard.own_first(&mut open);
        }
        while !open.is_empty() {
            let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
            let (busy, fault) = (Mutex::new(Vec::new()), Mutex::new(None));
            let work = || {
                while let Some(&trial) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let attempt = run_trial(self, trial, last_epoch(trial));
                    match attempt.and_then(|attempt| {
                        if let Attempt::Done = attempt {
                            self.folder.write_index(self.all)?;
                        }
                        Ok(attempt)
                    }) {
                        Ok(Attempt::Done) => {}
                        Ok(Attempt::Busy) => busy.lock().unwrap_or_else(PoisonError::into_inner).push(trial),
                        Ok(Attempt::Stopped) => stop.store(true, Ordering::Relaxed),
                        Err(error) => {
                            stop.store(true, Ordering::Relaxed);
                            fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                        }
                    }
                }
            };
            self.in_parallel(open.len(), &work)?;
            if let Some(error) = fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
                return Err(error);
            }
            if stop.into_inner() {
                return Ok(false);
            }
            // Trials of other processes are tried again: if such a process dies, they are taken over.
            let busy = busy.into_inner().unwrap_or_else(PoisonError::into_inner);
            if busy.len() == open.len() {
                std::thread::sleep(POLL_INTERVAL);
            }
            open = busy;
        }
        Ok(true)
    }

    /// Runs `work` once per job, each in a thread pool with the job's share of the threads.
    fn in_parallel(&self, most: usize, work: &(dyn Fn() + Sync)) -> Result<()> {
        let threads = self.options.threads.max(1);
        let jobs = self.options.jobs.clamp(1, threads).min(most);
        let pool = |job: usize| {
            let share = threads / jobs + usize::from(job < threads % jobs);
            rayon::ThreadPoolBuilder::new().num_threads(share).build()
        };
        let pools: Result<Vec<_>, _> = (0..jobs).map(pool).collect();
        let pools = pools.map_err(|e| InputError::new(format!("can't start the threads: {e}")))?;
        std::thread::scope(|scope| {
            for pool in &pools {
                scope.spawn(|| pool.install(work));
            }
        });
        Ok(())
    }
}
