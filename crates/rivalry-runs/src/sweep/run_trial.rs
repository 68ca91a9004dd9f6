//! Running one trial, from wherever it is.

use std::ops::ControlFlow;

use super::status::write_failure;
use super::workers::Workers;
use super::{Trial, TrialState, TrialStatus};
use crate::run::{ResumedRun, RunFolder};
use crate::{Error, InputError, Result};
use rivalry::data::Dataset;
use rivalry::files::{FolderLock, host};
use rivalry::train::{Fitted, Record, TrainEvent, trainer};

/// An event in the course of a trial.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TrialEvent<'a> {
    /// A file of the trial is damaged, so the trial starts from the beginning. It will end with the same result.
    Damaged(&'a Error),
    /// The trial starts, or is resumed after this many epochs.
    Started(usize),
    /// A training step was made.
    Step {
        /// The batches trained so far, over all epochs.
        done: usize,
        /// The batches of all epochs.
        total: usize,
    },
    /// The evaluation starts.
    Evaluating,
    /// The model was evaluated.
    Evaluated(&'a Record),
    /// The trial is over or paused, with this status.
    Left(&'a TrialStatus),
}

/// A rung of successive halving, or the only round of a sweep without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung {
    /// Its number, from 1.
    pub number: usize,
    /// The number of rungs.
    pub of: usize,
    /// The number of trials that take part in it.
    pub trials: usize,
}

/// What an observer may stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// This trial: it is left where it is.
    Trial,
    /// All trials; the sweep can be resumed.
    Sweep,
}

/// Observes the trials of a sweep, from several threads at once, and may stop it.
pub trait SweepObserver: Sync {
    /// Is called for every event. `Break` stops this trial or all of them.
    fn observe(&self, trial: &Trial, event: &TrialEvent<'_>) -> ControlFlow<Stop>;

    /// Is called before the trials of a rung.
    fn begin(&self, _rung: Rung) {}

    /// Whether to start this trial, or to continue it. Is called before anything is written.
    fn admits(&self, _trial: &Trial) -> bool {
        true
    }
}

/// The outcome of an attempt to run a trial.
pub(super) enum Attempt {
    /// It ran as far as it was to.
    Done,
    /// Another process is running it.
    Busy,
    /// The observer asked to stop the sweep.
    Stopped,
}

impl Attempt {
    fn stopped(stop: Stop) -> Self {
        match stop {
            Stop::Trial => Self::Done,
            Stop::Sweep => Self::Stopped,
        }
    }
}

/// Runs a trial until it has been evaluated after `last_epoch`, or to its end. If its model is to be kept and an earlier
/// sweep has removed it, the trial is trained again.
pub(super) fn run_trial(workers: &Workers<'_>, trial: &Trial, last_epoch: Option<usize>) -> Result<Attempt> {
    let (sweep, observer) = (workers.folder, workers.observer);
    if !observer.admits(trial) {
        return Ok(Attempt::Done);
    }
    let path = sweep.path().join(&trial.name);
    std::fs::create_dir_all(&path).map_err(|e| Error::io("create", &path, e))?;
    let dataset = sweep.dataset(&trial.config)?;
    if leave_if_done(workers, trial, &dataset, last_epoch)? {
        return Ok(Attempt::Done);
    }
    let Some(lease) = sweep.leases().try_acquire(&trial.name)? else { return Ok(Attempt::Busy) };
    // The lock keeps out other commands on this machine, such as `train --resume`. What another machine left locked on a
    // shared file system does not count: its lease is over.
    let lock = match FolderLock::try_acquire(&path)? {
        Ok(lock) => Some(lock),
        Err(holder) if holder.ends_with(&format!(" on {}", host())) => return Ok(Attempt::Busy),
        Err(_) => None,
    };
    // Another process may have trained it in the meantime.
    if leave_if_done(workers, trial, &dataset, last_epoch)? {
        return Ok(Attempt::Done);
    }
    if sweep.status(trial)?.state == TrialState::Finished {
        RunFolder::open(&path)?.remove_results()?;
        sweep.forget(trial);
    }
    // Before anything is written, so that a config that can't be trained leaves no run behind.
    trainer(&trial.config, sweep.memory()).check(&dataset)?;
    let ResumedRun { folder, config, state, data_checksum, damage } =
        RunFolder::create_or_resume(&path, &trial.config, lock)?;
    data_checksum.map_or(Ok(()), |checksum| dataset.check_same(&checksum))?;

    if let Some(damage) = damage {
        if let ControlFlow::Break(stop) = observer.observe(trial, &TrialEvent::Damaged(&damage)) {
            return Ok(Attempt::stopped(stop));
        }
        folder.start_over()?;
    }
    let started = TrialEvent::Started(state.as_ref().map_or(0, |state| state.progress.epoch));
    if let ControlFlow::Break(stop) = observer.observe(trial, &started) {
        return Ok(Attempt::stopped(stop));
    }
    let (mut batches, mut total) = (0, 0);
    let mut asked = None;
    let mut train_observer = |event: &TrainEvent<'_>| {
        let answer = match *event {
            TrainEvent::Started { epochs, batches: per_epoch, .. } => {
                (batches, total) = (per_epoch, per_epoch * epochs);
                ControlFlow::Continue(())
            }
            TrainEvent::Step { epoch, batch, .. } => {
                observer.observe(trial, &TrialEvent::Step { done: (epoch - 1) * batches + batch, total })
            }
            TrainEvent::Fitting { done, total } => observer.observe(trial, &TrialEvent::Step { done, total }),
            TrainEvent::Evaluating { .. } => observer.observe(trial, &TrialEvent::Evaluating),
            TrainEvent::Evaluated(record) => {
                let answer = observer.observe(trial, &TrialEvent::Evaluated(record));
                if last_epoch.is_some_and(|last| record.epoch >= last) {
                    return ControlFlow::Break(());
                }
                answer
            }
            _ => ControlFlow::Continue(()),
        };
        asked = answer.break_value().or(asked);
        if lease.is_lost() {
            return ControlFlow::Break(());
        }
        if answer.is_break() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut checkpointer = folder.checkpointer(&dataset, &config);
    match trainer(&config, sweep.memory()).fit(&dataset, state, &mut checkpointer, &mut train_observer) {
        Ok(Fitted::Done(fit)) => {
            folder.finish(fit.outcome, &dataset)?;
            folder.drop_checkpoint()?;
        }
        Ok(Fitted::Stopped(_)) if asked == Some(Stop::Sweep) => return Ok(Attempt::Stopped),
        Ok(Fitted::Stopped(_)) if lease.is_lost() => return Ok(Attempt::Busy),
        Ok(Fitted::Stopped(_)) => {}
        // Divergence is a result of the settings, and so is a closed form that does not exist: it would happen again.
        Err(error @ (Error::NonFinite { .. } | Error::NanScore { .. })) => {
            write_failure(sweep.path(), trial, &error)?;
        }
        Err(error @ Error::Input(_)) if config.gradient.is_none() => {
            write_failure(sweep.path(), trial, &error)?;
        }
        Err(error) => return Err(error),
    }
    let status = sweep.status(trial)?;
    let _ = observer.observe(trial, &TrialEvent::Left(&status));
    Ok(Attempt::Done)
}

/// Whether a trial has been trained as far as it is to, and its model is there if it is to be kept; the observer is told.
fn leave_if_done(
    workers: &Workers<'_>,
    trial: &Trial,
    dataset: &Dataset,
    last_epoch: Option<usize>,
) -> Result<bool> {
    let status = workers.folder.status(trial)?;
    if let Ok(folder) = RunFolder::open(&workers.folder.path().join(&trial.name)) {
        check_same(&folder, trial, dataset)?;
        if workers.options.keep_models && status.state == TrialState::Finished && !folder.has_model() {
            return Ok(false);
        }
    }
    let done = status.has_reached(last_epoch);
    if done {
        let _ = workers.observer.observe(trial, &TrialEvent::Left(&status));
    }
    Ok(done)
}

/// Refuses to continue a run with other settings or on other data.
fn check_same(folder: &RunFolder, trial: &Trial, dataset: &Dataset) -> Result<()> {
    let refuse = |what: &str, help: &str| Err(InputError::new(what).file(folder.path()).help(help).into());
    if folder.config()? != trial.config {
        let help = "choose another folder for this sweep, or remove the run";
        return refuse("holds a run with other settings", help);
    }
    match folder.record()? {
        Some(record) if record.data_checksum != dataset.checksum => refuse(
            &format!("the data '{}' have changed since the run was trained", dataset.name),
            "restore the data, or choose another folder for this sweep",
        ),
        _ => Ok(()),
    }
}
