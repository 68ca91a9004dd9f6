//! The folder of a sweep.
//!
//! All state is on disk: a trial is a run folder, and the process that trains it holds its lease. A process can therefore be
//! killed at any time, and several processes, on one machine or on several, can share a sweep.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::lease::Leases;
use super::select::{best_of_each_group, check_seeds, check_validation};
use super::workers::Workers;
use super::{
    Halving, Origin, Rung, SearchSpace, SelectedTrial, Shard, SweepObserver, SweepResult, Trial, TrialStatus,
    result, status,
};
use crate::run::RunFolder;
use crate::{Error, InputError, Result};
use rivalry::config::{Config, DataConfig};
use rivalry::data::{Dataset, LoadOptions, load};
use rivalry::memory::MemoryLimit;

/// The folder of a sweep.
pub struct SweepFolder {
    path: PathBuf,
    load: LoadOptions,
    datasets: Mutex<HashMap<String, Arc<Dataset>>>,
    leases: Leases,
    /// The statuses of trials that are over, which are read once.
    over: Mutex<HashMap<String, TrialStatus>>,
}

/// How the trials of a sweep are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepOptions {
    /// The number of trials that run in parallel.
    pub jobs: usize,
    /// The number of threads of all jobs together.
    pub threads: usize,
    /// Successive halving, if any.
    pub halving: Option<Halving>,
    /// Whether to keep the models of all trials, not only the best of each group.
    pub keep_models: bool,
    /// The share of the trials that this process begins with, if several processes work on the sweep.
    pub shard: Option<Shard>,
}

impl SweepFolder {
    /// Opens or creates the folder. `load` says where named data sets are searched and how much memory one trial may use.
    ///
    /// # Errors
    /// If the folder can't be created.
    pub fn open(path: &Path, load: LoadOptions) -> Result<Self> {
        std::fs::create_dir_all(path).map_err(|e| Error::io("create", path, e))?;
        let leases = Leases::new(path);
        Ok(Self { path: path.to_owned(), load, datasets: Mutex::default(), leases, over: Mutex::default() })
    }

    /// Takes a data set that is loaded already for those of a config.
    pub fn take_dataset(&self, config: &DataConfig, dataset: Arc<Dataset>) {
        let mut known = self.datasets.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(key_of(config), dataset);
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn leases(&self) -> &Leases {
        &self.leases
    }

    /// How much memory one trial may use.
    pub(super) fn memory(&self) -> MemoryLimit {
        self.load.memory
    }

    /// Runs all trials of a search space, and the best of each group with as many seeds as the space says. `None` if the
    /// observer asked to stop; running the same sweep again continues it.
    ///
    /// # Errors
    /// If there are no trials, there is nothing to select by, or a trial can't be run.
    pub fn sweep(
        &self,
        space: &SearchSpace,
        options: &SweepOptions,
        observer: &dyn SweepObserver,
    ) -> Result<Option<SweepResult>> {
        let trials = space.trials()?;
        if trials.is_empty() {
            return Err(InputError::new("the search space is empty")
                .field("grid")
                .help("give a grid, or the name of a loss or a model")
                .into());
        }
        check_validation(self, &trials)?;
        check_seeds(&trials, space.seeds())?;
        let Some(statuses) = self.run(&trials, options, observer)? else { return Ok(None) };
        let best: Vec<Trial> = best_of_each_group(&trials, &statuses).into_iter().cloned().collect();
        let repeated: Vec<Trial> = best.iter().flat_map(|trial| space.seeds_of(trial)).collect();
        let new = repeated.iter().filter(|trial| !statuses.iter().any(|known| known.name == trial.name));
        let all: Vec<Trial> = trials.iter().chain(new).cloned().collect();
        let options = SweepOptions { keep_models: true, halving: None, ..*options };
        let workers = Workers { folder: self, all: &all, options: &options, observer };
        if self.run_with(&workers, &repeated)?.is_none() {
            return Ok(None);
        }
        let selected = best.iter().map(|trial| {
            let rivals = || trials.iter().zip(&statuses).filter(|(rival, _)| rival.group() == trial.group());
            let default = rivals().find(|(rival, _)| rival.origin == Origin::Default);
            let default = default.and_then(|(_, status)| status.valid);
            let selected =
                SelectedTrial::new(trial, rivals().count(), self.statuses(&space.seeds_of(trial))?);
            Ok(SelectedTrial { default, edges: space.edges(trial)?, ..selected })
        });
        let mut selected: Vec<SelectedTrial> = selected.collect::<Result<_>>()?;
        result::sort_by_score(&mut selected);
        result::write(&self.path, &selected)?;
        Ok(Some(SweepResult { trials: self.write_index(&all)?, selected }))
    }

    /// Runs trials to their end and returns their statuses; `None` if the observer asked to stop.
    ///
    /// # Errors
    /// If a trial can't be run. A trial whose training diverges is a result, not an error.
    pub fn run(
        &self,
        trials: &[Trial],
        options: &SweepOptions,
        observer: &dyn SweepObserver,
    ) -> Result<Option<Vec<TrialStatus>>> {
        self.run_with(&Workers { folder: self, all: trials, options, observer }, trials)
    }

    fn run_with(&self, workers: &Workers<'_>, trials: &[Trial]) -> Result<Option<Vec<TrialStatus>>> {
        let halving = workers.options.halving;
        halving.map_or(Ok(()), |_| Halving::check(trials))?;
        let rungs = halving.map_or(0, |halving| halving.rungs);
        let mut remaining = trials.to_vec();
        for rung in 0..=rungs {
            let last_epoch = |trial: &Trial| halving.and_then(|halving| halving.last_epoch(rung, trial));
            let [number, of] = [rung + 1, rungs + 1].map(|n| n as usize);
            workers.observer.begin(Rung { number, of, trials: remaining.len() });
            if !workers.run(&remaining, &last_epoch)? {
                return Ok(None);
            }
            if let (Some(halving), true) = (halving, rung < rungs) {
                let value = |trial: &Trial| self.best_value(trial, last_epoch(trial));
                let values: Vec<f64> = remaining.iter().map(value).collect::<Result<_>>()?;
                remaining = halving.promoted(remaining, &values);
            }
        }
        self.write_index(workers.all)?;
        let statuses = self.statuses(trials)?;
        self.clean_up(trials, &statuses, workers.options.keep_models)?;
        Ok(Some(statuses))
    }

    /// Trains every trial until it has been evaluated after this epoch, or to its end. Nothing is removed, so that any of
    /// them can go on. `false` if the observer asked to stop.
    ///
    /// # Errors
    /// If a trial can't be run.
    pub fn advance(
        &self,
        trials: &[Trial],
        last_epoch: Option<usize>,
        options: &SweepOptions,
        observer: &dyn SweepObserver,
    ) -> Result<bool> {
        Workers { folder: self, all: trials, options, observer }.run(trials, &|_| last_epoch)
    }

    /// The status of a trial.
    ///
    /// # Errors
    /// If a file of the trial can't be read.
    pub fn status(&self, trial: &Trial) -> Result<TrialStatus> {
        let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(status) = over.get(&trial.name) {
            return Ok(status.clone());
        }
        let status = TrialStatus::read(&self.path, trial)?;
        if status.is_over() {
            over.insert(trial.name.clone(), status.clone());
        }
        Ok(status)
    }

    /// Reads the status of a trial anew the next time.
    pub(super) fn forget(&self, trial: &Trial) {
        self.over.lock().unwrap_or_else(PoisonError::into_inner).remove(&trial.name);
    }

    /// A trial's best validation value up to an epoch, even if it has been trained further.
    pub(crate) fn best_value(&self, trial: &Trial, last_epoch: Option<usize>) -> Result<f64> {
        let Ok(folder) = RunFolder::open(&self.path.join(&trial.name)) else { return Ok(f64::NEG_INFINITY) };
        let metric = trial.config.eval.selection_metric();
        let log = folder.log()?;
        let in_time = log.iter().filter(|record| last_epoch.is_none_or(|last| record.epoch <= last));
        let values = in_time.filter_map(|record| record.valid.as_ref()?.get(&metric).copied());
        Ok(values.fold(f64::NEG_INFINITY, f64::max))
    }

    /// The data set of a config, loaded once for all trials that share it.
    ///
    /// # Errors
    /// If the data can't be read.
    pub fn dataset(&self, config: &Config) -> Result<Arc<Dataset>> {
        let (data, key) = (&config.data, key_of(&config.data));
        let mut known = self.datasets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(dataset) = known.get(&key) {
            return Ok(dataset.clone());
        }
        let dataset = load(data, &self.load, &mut |_| {})?;
        Ok(known.entry(key).or_insert(Arc::new(dataset)).clone())
    }

    pub(crate) fn write_index(&self, trials: &[Trial]) -> Result<Vec<TrialStatus>> {
        let statuses = self.statuses(trials)?;
        status::write_index(&self.path, &statuses)?;
        Ok(statuses)
    }

    pub(super) fn statuses(&self, trials: &[Trial]) -> Result<Vec<TrialStatus>> {
        trials.iter().map(|trial| self.status(trial)).collect()
    }

    /// Removes files that are no longer needed: checkpoints and models of trials that halving dropped, and, unless they
    /// are to be kept, the models of all but the best trial of each group.
    fn clean_up(&self, trials: &[Trial], statuses: &[TrialStatus], keep_models: bool) -> Result<()> {
        let best = best_of_each_group(trials, statuses);
        for (trial, status) in trials.iter().zip(statuses) {
            let Ok(folder) = RunFolder::open(&self.path.join(&trial.name)) else { continue };
            let dropped = status.state.last_epoch().is_some();
            if dropped {
                folder.drop_checkpoint()?;
            }
            if dropped || !(keep_models || best.contains(&trial)) {
                folder.drop_model()?;
            }
        }
        Ok(())
    }
}

/// What makes one data set different from another.
fn key_of(config: &DataConfig) -> String {
    toml::Table::try_from(config).map(|table| table.to_string()).unwrap_or_default()
}
