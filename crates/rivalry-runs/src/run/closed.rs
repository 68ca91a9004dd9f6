//! Finished runs made of trials: of those that are finished, and of those that were paused or given up.

use std::path::Path;

use rivalry::data::Dataset;
use rivalry::eval::{EvalPart, evaluate};
use rivalry::model::Model;
use rivalry::train::{Ending, EpochOutcome, Outcome, Record};
use rivalry::{Error, InputError, Result};

use super::folder::{CONFIG, LOG, METRICS, MODEL};
use super::{FinishedRun, RunFolder};

impl RunFolder {
    /// A finished run in another folder, which is replaced: this one, or, if it is not finished, the same training with the
    /// last epoch that was evaluated as its end. Without a schedule of the learning rate, these are the bits of a training
    /// with that many epochs.
    pub(crate) fn closed_at(&self, path: &Path, dataset: &Dataset) -> Result<FinishedRun> {
        if path.exists() {
            std::fs::remove_dir_all(path).map_err(|e| Error::io("replace", path, e))?;
        }
        match self.record()? {
            Some(_) => self.copy_to(path)?,
            None => self.close_at(path, dataset)?,
        }
        FinishedRun::open(path)
    }

    /// Copies a finished run. Files are never changed in place, so two folders may share them.
    fn copy_to(&self, path: &Path) -> Result<()> {
        std::fs::create_dir_all(path).map_err(|e| Error::io("create", path, e))?;
        for name in [CONFIG, LOG, MODEL, METRICS] {
            let (from, to) = (self.path().join(name), path.join(name));
            if from.exists() && std::fs::hard_link(&from, &to).is_err() {
                std::fs::copy(&from, &to).map_err(|e| Error::io("write", &to, e))?;
            }
        }
        Ok(())
    }

    fn close_at(&self, path: &Path, dataset: &Dataset) -> Result<()> {
        let (mut config, history, model) = (self.config()?, self.log()?, self.model()?);
        let (Some(last), Some(gradient)) = (history.last(), &mut config.gradient) else {
            return Err(InputError::new("the training has no evaluated epoch").file(self.path()).into());
        };
        gradient.train.epochs = last.epoch;
        let best = history.iter().find(|record| Some(record.epoch) == model.epoch).unwrap_or(last).clone();
        let folder = Self::create(path, &config, true)?;
        folder.write_log(&history)?;
        let model = Model { config, ..model };
        model.save(&path.join(MODEL))?;
        let test = evaluate(&*model.scorer()?, dataset, EvalPart::Test, &model.config.eval)?;
        let outcome = Outcome {
            ending: Ending::Finished,
            training: Some(training(last, &best, dataset)),
            valid: best.valid,
            test: test.metrics,
            head: test.head,
            tail: test.tail,
            beyond: test.beyond,
            nothing_learned: None,
            seconds: last.seconds,
        };
        folder.finish(outcome, dataset).map(drop)
    }
}

fn training(last: &Record, best: &Record, dataset: &Dataset) -> EpochOutcome {
    let seconds = last.seconds.train.max(f64::MIN_POSITIVE);
    EpochOutcome {
        epochs: last.epoch,
        best_epoch: best.epoch,
        select: rivalry::config::Select::Valid,
        epoch_seconds: seconds / last.epoch as f64,
        pairs_per_second: (dataset.train.len() * last.epoch) as f64 / seconds,
    }
}
