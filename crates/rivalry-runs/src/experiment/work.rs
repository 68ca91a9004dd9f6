//! One attempt at one trial, from wherever it stands.

use std::ops::ControlFlow;

use super::index::write_failure;
use super::{Lab, Standing, State, Trial};
use crate::run::{ResumedRun, RunFolder};
use crate::{Error, InputError, Result};
use rivalry::data::Dataset;
use rivalry::files::FolderLock;
use rivalry::train::{Fitted, Record, TrainEvent, trainer};

/// What happens to a trial.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Moment<'a> {
    /// It begins, or goes on after so many epochs.
    Began(usize),
    /// So many batches of so many are done, over all epochs.
    Step(usize, usize),
    /// It is being evaluated.
    Evaluating,
    /// It was evaluated.
    Evaluated(&'a Record),
    /// It stands like this, and is left alone for now.
    Left(&'a Standing),
}

/// Is told what happens to every trial, from several threads at once, and may ask to stop.
pub trait Watch: Sync {
    /// Takes note. `Break` asks all trials to stop, ready to be gone on with.
    fn note(&self, trial: &Trial, moment: &Moment<'_>) -> ControlFlow<()>;
}

/// How an attempt went.
pub(super) enum Attempt {
    /// As far as it was to go.
    Done,
    /// Somebody else is at it.
    Busy,
    /// The watch asked to stop.
    Stopped,
}

/// Goes on with a trial until it has been evaluated after the epoch `until`, or to its end. If its model is to be kept
/// and an earlier search has thrown it away, it is trained again.
pub(super) fn attempt(
    lab: &Lab,
    trial: &Trial,
    until: Option<usize>,
    keep_model: bool,
    watch: &dyn Watch,
) -> Result<Attempt> {
    let path = lab.path().join(&trial.name);
    std::fs::create_dir_all(&path).map_err(|e| Error::io("create", &path, e))?;
    let Ok(lock) = FolderLock::try_acquire(&path)? else { return Ok(Attempt::Busy) };
    let dataset = lab.dataset(&trial.config)?;
    let mut standing = lab.standing(trial)?;
    if let Ok(folder) = RunFolder::open(&path) {
        check_same(&folder, trial, &dataset)?;
        if keep_model && standing.state == State::Finished && !folder.has_model() {
            folder.remove_results()?;
            lab.forget(trial);
            standing = lab.standing(trial)?;
        }
    }
    if standing.has_reached(until) {
        let _ = watch.note(trial, &Moment::Left(&standing));
        return Ok(Attempt::Done);
    }
    // Before anything is written: what can't be trained leaves no run behind.
    trainer(&trial.config, lab.memory()).check(&dataset)?;
    let ResumedRun { folder, config, state, data_checksum, damage: _ } =
        RunFolder::create_or_resume(&path, &trial.config, lock)?;
    data_checksum.map_or(Ok(()), |checksum| dataset.check_same(&checksum))?;

    let began = Moment::Began(state.as_ref().map_or(0, |state| state.progress.epoch));
    if watch.note(trial, &began).is_break() {
        return Ok(Attempt::Stopped);
    }
    let (mut batches, mut all) = (0, 0);
    let mut asked = false;
    let mut observer = |event: &TrainEvent<'_>| {
        let answer = match *event {
            TrainEvent::Started { epochs, batches: per_epoch, .. } => {
                (batches, all) = (per_epoch, per_epoch * epochs);
                ControlFlow::Continue(())
            }
            TrainEvent::Step { epoch, batch, .. } => {
                watch.note(trial, &Moment::Step((epoch - 1) * batches + batch, all))
            }
            TrainEvent::Evaluating { .. } => watch.note(trial, &Moment::Evaluating),
            TrainEvent::Evaluated(record) => {
                let answer = watch.note(trial, &Moment::Evaluated(record));
                if until.is_some_and(|until| record.epoch >= until) {
                    return ControlFlow::Break(());
                }
                answer
            }
            _ => ControlFlow::Continue(()),
        };
        asked |= answer.is_break();
        answer
    };
    let mut checkpointer = folder.checkpointer(&dataset, &config);
    match trainer(&config, lab.memory()).fit(&dataset, state, &mut checkpointer, &mut observer) {
        Ok(Fitted::Done(fit)) => {
            folder.finish(fit.outcome, &dataset)?;
            folder.drop_checkpoint()?;
        }
        Ok(Fitted::Stopped(_)) if asked => return Ok(Attempt::Stopped),
        Ok(Fitted::Stopped(_)) => {}
        // Some settings don't work, and that is a result. It would be the same the next time.
        Err(error @ (Error::NonFinite { .. } | Error::NanScore { .. })) => {
            write_failure(lab.path(), trial, &error)?;
        }
        Err(error) => return Err(error),
    }
    let standing = lab.standing(trial)?;
    let _ = watch.note(trial, &Moment::Left(&standing));
    Ok(Attempt::Done)
}

/// What is there is taken up only if it is this very training on these very data.
fn check_same(folder: &RunFolder, trial: &Trial, dataset: &Dataset) -> Result<()> {
    let refuse = |what: &str, help: &str| Err(InputError::new(what).file(folder.path()).help(help).into());
    if folder.config()? != trial.config {
        let help = "choose another folder for this experiment, or take this training away";
        return refuse("holds a training with other settings", help);
    }
    match folder.record()? {
        Some(record) if record.data_checksum != dataset.checksum => refuse(
            &format!("the data '{}' are no longer those it was trained on", dataset.name),
            "bring the old data back, or choose another folder for this experiment",
        ),
        _ => Ok(()),
    }
}
