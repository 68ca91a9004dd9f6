//! The search: trials of all models in one sweep folder, under one clock.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rivalry::config::{Config, setting_layer};
use rivalry::data::{Dataset, LoadOptions};
use rivalry::memory::MemoryLimit;

use super::clock::Clock;
use super::{AutoObserver, Skipped};
use crate::run::RunFolder;
use crate::selection::{SeedValue, best_setting};
use crate::settings::Settings;
use crate::sweep::{SweepFolder, SweepOptions, Trial, TrialGroup, TrialState, TrialStatus};
use crate::{Error, Result};

/// A search in progress.
pub(super) struct Search<'a> {
    /// The folder of the trials.
    pub folder: SweepFolder,
    pub dataset: Arc<Dataset>,
    /// The data and the evaluation, which all trials share.
    pub task: toml::Table,
    pub options: SweepOptions,
    pub memory: MemoryLimit,
    pub load: LoadOptions,
    pub clock: Clock<'a>,
    pub observer: &'a dyn AutoObserver,
    /// The trials that were tried.
    pub tried: Vec<Trial>,
    pub skipped: Vec<Skipped>,
}

/// The best trial of a model.
pub(super) struct Finalist {
    pub trial: Trial,
    pub status: TrialStatus,
    /// How many trials of the model have a validation value.
    pub tried: usize,
    /// The epoch of the best value, where there are epochs.
    pub epoch: Option<usize>,
    /// Seconds of training.
    pub seconds: f64,
    /// Seconds of an evaluation.
    pub eval_seconds: f64,
}

impl Search<'_> {
    /// Runs trials, and takes note of what they have come to.
    pub fn advance(
        &mut self,
        trials: &[Trial],
        last_epoch: Option<usize>,
        options: &SweepOptions,
    ) -> Result<()> {
        self.folder.advance(trials, last_epoch, options, &self.clock)?;
        for trial in trials {
            let status = self.folder.status(trial)?;
            self.clock.note(trial, status.valid, None);
            let known = self.tried.iter().any(|known| known.name == trial.name);
            if status.state != TrialState::Pending && !known {
                self.tried.push(trial.clone());
            }
        }
        Ok(())
    }

    /// Takes up what an earlier search in the folder has tried and this one has not come to.
    pub fn take_up_earlier_trials(&mut self) -> Result<()> {
        let path = self.folder.path();
        let entries = std::fs::read_dir(path).map_err(|e| Error::io("list", path, e))?;
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort_unstable();
        names.retain(|name| self.tried.iter().all(|known| known.name != *name));
        for name in names {
            let Ok(config) = RunFolder::open(&path.join(&name)).and_then(|folder| folder.config()) else {
                continue;
            };
            let settings = changed_settings(&config)?;
            let trial = Trial { name, ..Trial::new(config, settings) };
            if self.folder.status(&trial)?.valid.is_some() {
                self.tried.push(trial);
            }
        }
        Ok(())
    }

    /// The best validation value of a trial.
    pub fn valid(&self, trial: &Trial) -> Result<f64> {
        Ok(self.folder.status(trial)?.valid.unwrap_or(f64::NEG_INFINITY))
    }

    /// The best trial of each model by the validation set, the best model first.
    pub fn finalists(&self) -> Result<Vec<Finalist>> {
        let mut groups: BTreeMap<TrialGroup, Vec<(&Trial, TrialStatus)>> = BTreeMap::new();
        for trial in &self.tried {
            let status = self.folder.status(trial)?;
            if status.valid.is_some() {
                groups.entry(trial.group()).or_default().push((trial, status));
            }
        }
        let mut finalists = Vec::new();
        for members in groups.into_values() {
            let value = |(trial, status): &(&Trial, TrialStatus)| {
                vec![SeedValue { seed: trial.config.seed, valid: status.valid }]
            };
            let values: Vec<Vec<SeedValue>> = members.iter().map(value).collect();
            let Some((trial, status)) = best_setting(&values).map(|best| members[best].clone()) else {
                continue;
            };
            finalists.push(finalist(self.folder.path(), trial.clone(), status, members.len())?);
        }
        finalists
            .sort_by(|a, b| b.status.valid.partial_cmp(&a.status.valid).unwrap_or(std::cmp::Ordering::Equal));
        Ok(finalists)
    }

    /// Removes all models but the best of each model and those that are still in training.
    pub fn keep_best_models(&self) -> Result<()> {
        let best: Vec<String> = self.finalists()?.into_iter().map(|finalist| finalist.trial.name).collect();
        for trial in self.tried.iter().filter(|trial| !best.contains(&trial.name)) {
            match RunFolder::open(&self.folder.path().join(&trial.name)) {
                Ok(folder) if !folder.has_checkpoint() => folder.drop_model()?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Keeps as much time as the winner of this moment needs to be tested and trained on everything.
    pub fn reserve(&self) -> Result<()> {
        let finalists = self.finalists()?;
        let Some(winner) = finalists.first() else { return Ok(()) };
        let all = [&self.dataset.train, &self.dataset.valid, &self.dataset.test].map(|part| part.len());
        let more = all.iter().sum::<usize>() as f64 / self.dataset.train.len() as f64;
        let evaluations: f64 = finalists.iter().map(|finalist| finalist.eval_seconds).sum();
        // A trial has one of the jobs' threads, the last training has all of them.
        let share = if winner.epoch.is_some() { (self.options.jobs as f64).powf(0.7) } else { 1.0 };
        self.clock.reserve(winner.final_seconds() * more / share + evaluations);
        Ok(())
    }
}

impl Finalist {
    /// Seconds of a training to the best epoch.
    fn final_seconds(&self) -> f64 {
        match (self.epoch, self.status.state.last_epoch()) {
            (Some(epoch), Some(last)) => self.seconds * epoch as f64 / last.max(1) as f64,
            (Some(epoch), _) => {
                let training = self.status.outcome.as_ref().and_then(|outcome| outcome.training.as_ref());
                training.map_or(self.seconds, |training| training.epoch_seconds * epoch as f64)
            }
            (None, _) => self.seconds,
        }
    }
}

/// The settings of model, loss and optimiser that are not the defaults of that model and loss.
pub(super) fn changed_settings(config: &Config) -> Result<Vec<(String, toml::Value)>> {
    let all = Settings::of(config);
    let types = ["model.type", "loss.type"].map(|key| (key, all.text(key)));
    let layers = types.iter().filter_map(|(key, name)| Some(format!("{key}={}", name.as_ref()?)));
    let layers = layers.map(|setting| setting_layer(&setting)).collect::<Result<Vec<_>>>()?;
    let defaults = Settings::of(&Config::from_layers(&layers)?);
    let searched = |key: &&String| ["model.", "loss.", "optim."].iter().any(|part| key.starts_with(part));
    let changed = all.keys().filter(searched).filter(|key| all.get(key) != defaults.get(key));
    Ok(changed.filter_map(|key| Some((key.clone(), all.get(key)?.clone()))).collect())
}

fn finalist(folder: &Path, trial: Trial, status: TrialStatus, tried: usize) -> Result<Finalist> {
    let log = RunFolder::open(&folder.join(&trial.name))?.log()?;
    let seconds = match (&status.outcome, log.last()) {
        (Some(outcome), _) => outcome.seconds,
        (None, Some(last)) => last.seconds,
        (None, None) => Default::default(),
    };
    let evaluations = log.len().max(1) as f64;
    Ok(Finalist {
        epoch: log.iter().rev().find(|record| record.best).map(|record| record.epoch),
        seconds: seconds.train,
        eval_seconds: seconds.eval / evaluations,
        trial,
        status,
        tried,
    })
}
