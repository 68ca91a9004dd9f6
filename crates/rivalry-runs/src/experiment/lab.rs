//! The folder of an experiment, and the work in it.
//!
//! Everything that is known stands on the disk: a trial is a run folder, and who works on it has its lock. So a process
//! can be killed at any moment, and several can share a folder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::choice::{best_of_each, check_choice, check_seeds};
use super::work::{Attempt, attempt};
use super::{Chosen, Findings, Halving, Search, Standing, State, Trial, Watch, findings, index};
use rivalry::memory::MemoryLimit;

use crate::run::RunFolder;
use crate::{Error, InputError, Result};
use rivalry::config::Config;
use rivalry::data::{Dataset, LoadOptions, load};

/// How long to wait before looking again whether another process is done with a trial.
const LOOK_AGAIN: Duration = Duration::from_millis(300);

/// The folder of an experiment.
pub struct Lab {
    path: PathBuf,
    load: LoadOptions,
    data: Mutex<HashMap<String, Arc<Dataset>>>,
    over: Mutex<HashMap<String, Standing>>,
}

/// How trials are to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Trials side by side.
    pub jobs: usize,
    /// Threads for all of them together.
    pub threads: usize,
    /// Whether and how trials are thinned out.
    pub halving: Option<Halving>,
    /// Whether the models of all trials are kept, or of each contest only that of the best.
    pub keep_models: bool,
}

impl Lab {
    /// Opens the folder, or makes it. `load` says where named data sets are looked for, and how much memory one trial may
    /// take.
    pub fn open(path: &Path, load: LoadOptions) -> Result<Self> {
        std::fs::create_dir_all(path).map_err(|e| Error::io("create", path, e))?;
        Ok(Self { path: path.to_owned(), load, data: Mutex::default(), over: Mutex::default() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Searches, and trains the best of each contest from as many seeds as the search says. None if the watch asked to
    /// stop.
    pub fn search(&self, search: &Search, order: &Order, watch: &dyn Watch) -> Result<Option<Findings>> {
        let trials = search.trials()?;
        if trials.is_empty() {
            return Err(InputError::new("there is nothing to try")
                .field("grid")
                .help("give a grid, or the name of a loss")
                .into());
        }
        check_choice(self, &trials)?;
        check_seeds(&trials, search.seeds())?;
        let Some(standings) = self.run(&trials, order, watch)? else { return Ok(None) };
        let best: Vec<Trial> = best_of_each(&trials, &standings).into_iter().cloned().collect();
        let seeds = |trial: &Trial| -> Vec<Trial> {
            let first = trial.config.seed;
            (0..search.seeds() as u64).map(|offset| trial.with_seed(first + offset)).collect()
        };
        let again: Vec<Trial> = best.iter().flat_map(seeds).collect();
        let more = again.iter().filter(|trial| !standings.iter().any(|known| known.name == trial.name));
        let all: Vec<Trial> = trials.iter().chain(more).cloned().collect();
        let kept = Order { keep_models: true, halving: None, ..*order };
        if self.run_among(&again, &all, &kept, watch)?.is_none() {
            return Ok(None);
        }
        let chosen = best.iter().map(|trial| {
            let seeds = seeds(trial).iter().map(|trial| self.standing(trial)).collect::<Result<_>>()?;
            let tried = trials.iter().filter(|rival| rival.contest() == trial.contest()).count();
            Ok(Chosen::new(trial, tried, seeds))
        });
        let chosen: Vec<Chosen> = chosen.collect::<Result<_>>()?;
        findings::write(&self.path, &chosen)?;
        Ok(Some(Findings { trials: self.write_index(&all)?, chosen }))
    }

    /// Runs trials to their end. How they stand then; none if the watch asked to stop.
    pub fn run(&self, trials: &[Trial], order: &Order, watch: &dyn Watch) -> Result<Option<Vec<Standing>>> {
        self.run_among(trials, trials, order, watch)
    }

    /// Runs trials to their end, and lists how all of these stand.
    fn run_among(
        &self,
        trials: &[Trial],
        all: &[Trial],
        order: &Order,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<Standing>>> {
        let rounds = match order.halving {
            Some(halving) => {
                Halving::check(trials)?;
                halving.rounds
            }
            None => 0,
        };
        let mut left = trials.to_vec();
        for round in 0..=rounds {
            let until = |trial: &Trial| order.halving.and_then(|halving| halving.until(round, trial));
            if !self.round(&left, all, order, &until, watch)? {
                return Ok(None);
            }
            if let (Some(halving), true) = (order.halving, round < rounds) {
                let value = |trial: &Trial| self.value(trial, until(trial));
                let values: Vec<f64> = left.iter().map(value).collect::<Result<_>>()?;
                left = halving.survivors(left, &values);
            }
        }
        self.write_index(all)?;
        let standings = self.standings(trials)?;
        self.tidy(trials, &standings, order.keep_models)?;
        Ok(Some(standings))
    }

    /// Brings every trial as far as `until` says. `false` if the watch asked to stop.
    fn round(
        &self,
        trials: &[Trial],
        all: &[Trial],
        order: &Order,
        until: &(dyn Fn(&Trial) -> Option<usize> + Sync),
        watch: &dyn Watch,
    ) -> Result<bool> {
        let mut open: Vec<&Trial> = trials.iter().collect();
        while !open.is_empty() {
            let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
            let (busy, fault) = (Mutex::new(Vec::new()), Mutex::new(None));
            let work = || {
                while let Some(&trial) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let went = attempt(self, trial, until(trial), order.keep_models, watch);
                    match went.and_then(|attempt| match attempt {
                        Attempt::Done => self.write_index(all).map(|_| ()),
                        Attempt::Busy => {
                            busy.lock().unwrap_or_else(PoisonError::into_inner).push(trial);
                            Ok(())
                        }
                        Attempt::Stopped => {
                            stop.store(true, Ordering::Relaxed);
                            Ok(())
                        }
                    }) {
                        Ok(()) => {}
                        Err(error) => {
                            stop.store(true, Ordering::Relaxed);
                            fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                        }
                    }
                }
            };
            side_by_side(order, open.len(), &work)?;
            if let Some(error) = fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
                return Err(error);
            }
            if stop.into_inner() {
                return Ok(false);
            }
            // What others are at is looked at again: they may die, and then it falls to us.
            let waiting = busy.into_inner().unwrap_or_else(PoisonError::into_inner);
            if waiting.len() == open.len() {
                std::thread::sleep(LOOK_AGAIN);
            }
            open = waiting;
        }
        Ok(true)
    }

    /// How a trial stands. What is over stays so, and is read once.
    pub fn standing(&self, trial: &Trial) -> Result<Standing> {
        let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(standing) = over.get(&trial.name) {
            return Ok(standing.clone());
        }
        let standing = Standing::read(&self.path, trial)?;
        if standing.is_over() {
            over.insert(trial.name.clone(), standing.clone());
        }
        Ok(standing)
    }

    /// A trial is no longer over.
    pub(super) fn forget(&self, trial: &Trial) {
        self.over.lock().unwrap_or_else(PoisonError::into_inner).remove(&trial.name);
    }

    /// A trial's best value on the validation part until an epoch, however far it has come since.
    fn value(&self, trial: &Trial, until: Option<usize>) -> Result<f64> {
        let Ok(folder) = RunFolder::open(&self.path.join(&trial.name)) else { return Ok(f64::NEG_INFINITY) };
        let metric = trial.config.eval.selection_metric();
        let log = folder.log()?;
        let in_time = log.iter().filter(|record| until.is_none_or(|until| record.epoch <= until));
        let values = in_time.filter_map(|record| record.valid.as_ref()?.get(&metric).copied());
        Ok(values.fold(f64::NEG_INFINITY, f64::max))
    }

    /// How much memory one trial may take.
    pub(super) fn memory(&self) -> MemoryLimit {
        self.load.memory
    }

    /// The data of a config, read once for all trials that share them.
    pub fn dataset(&self, config: &Config) -> Result<Arc<Dataset>> {
        let data = &config.data;
        let key = toml::Table::try_from(data).map(|table| table.to_string()).unwrap_or_default();
        let mut known = self.data.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(dataset) = known.get(&key) {
            return Ok(dataset.clone());
        }
        let dataset = load(data, &self.load, &mut |_| {})?;
        Ok(known.entry(key).or_insert(Arc::new(dataset)).clone())
    }

    fn write_index(&self, trials: &[Trial]) -> Result<Vec<Standing>> {
        let standings = self.standings(trials)?;
        index::write(&self.path, &standings)?;
        Ok(standings)
    }

    fn standings(&self, trials: &[Trial]) -> Result<Vec<Standing>> {
        trials.iter().map(|trial| self.standing(trial)).collect()
    }

    /// Takes away what no longer serves: the tables of trials that were thinned out, and, unless they are kept, the
    /// models of all but the best of each contest.
    fn tidy(&self, trials: &[Trial], standings: &[Standing], keep_models: bool) -> Result<()> {
        let best = best_of_each(trials, standings);
        for (trial, standing) in trials.iter().zip(standings) {
            let Ok(folder) = RunFolder::open(&self.path.join(&trial.name)) else { continue };
            let thinned_out = matches!(standing.state, State::Begun(_));
            if thinned_out {
                folder.drop_checkpoint()?;
            }
            if thinned_out || !(keep_models || best.contains(&trial)) {
                folder.drop_model()?;
            }
        }
        Ok(())
    }
}

/// Does the work on as many threads as there are jobs, each with its share of the threads for its training.
fn side_by_side(order: &Order, most: usize, work: &(dyn Fn() + Sync)) -> Result<()> {
    let threads = order.threads.max(1);
    let jobs = order.jobs.clamp(1, threads).min(most);
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
