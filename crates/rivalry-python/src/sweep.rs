//! Sweeps whose trials are trained by a scheduler of Python, such as Ray.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use rivalry::config::Config;
use rivalry::data::LoadOptions;
use rivalry_runs::sweep::{
    Halving, LossGrid, SearchSpace, Stop, SweepFolder, SweepObserver, SweepOptions, Trial, TrialEvent,
};
use serde::Deserialize;

use crate::dataset::Dataset;
use crate::detached::run_detached;
use crate::errors::{invalid, raise};

/// A search, as Python describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    /// A search file.
    file: Option<PathBuf>,
    /// Settings of all trials.
    base: toml::Table,
    losses: Vec<String>,
    models: Vec<String>,
    /// The values of each key, instead of what is searched by default.
    grid: std::collections::BTreeMap<String, Vec<toml::Value>>,
    trials: Option<usize>,
    seeds: Option<usize>,
}

impl Search {
    fn space(self) -> rivalry::Result<SearchSpace> {
        let mut space = self.file.map_or_else(|| Ok(SearchSpace::new()), |file| SearchSpace::read(&file))?;
        space = space.with(self.base);
        let grid = if self.grid.is_empty() { LossGrid::BuiltIn } else { LossGrid::Empty };
        for loss in &self.losses {
            space = space.with_loss(loss, grid)?;
        }
        for model in &self.models {
            space = space.with_model(model, grid)?;
        }
        for (key, values) in self.grid {
            space = space.with_values(&key, values);
        }
        space = self.trials.into_iter().fold(space, SearchSpace::with_draws);
        Ok(self.seeds.into_iter().fold(space, SearchSpace::with_seeds))
    }
}

/// The folder of a sweep, and what is searched.
#[pyclass(frozen, module = "rivalry._rivalry")]
pub struct Sweep {
    folder: Arc<SweepFolder>,
    space: Arc<SearchSpace>,
    halving: Option<Halving>,
}

#[pymethods]
impl Sweep {
    /// Opens or creates the folder of a sweep; `search` is in JSON.
    #[new]
    fn new(search: &str, out: PathBuf, halving: bool) -> PyResult<Self> {
        let search: Search = serde_json::from_str(search).map_err(|e| invalid(format!("search: {e}")))?;
        let space = search.space().map_err(raise)?;
        // Before the folder is created, so that a wrong name leaves nothing behind.
        if space.trials().map_err(raise)?.is_empty() {
            return Err(invalid(
                "the search space is empty\n  help: give losses, models, or a search file".to_owned(),
            ));
        }
        let folder = SweepFolder::open(&out, LoadOptions::default()).map_err(raise)?;
        let halving = halving.then(Halving::default);
        Ok(Self { folder: Arc::new(folder), space: Arc::new(space), halving })
    }

    /// The data of the trials.
    fn data(&self, py: Python<'_>) -> PyResult<Dataset> {
        let (folder, space) = (Arc::clone(&self.folder), Arc::clone(&self.space));
        let data = run_detached(py, 0, move || {
            let trials = space.trials()?;
            let data = folder.dataset(&trials[0].config)?;
            match trials.iter().find(|trial| trial.config.data != trials[0].config.data) {
                None => Ok(data),
                Some(_) => Err(rivalry::InputError::new("the trials are on several data sets")
                    .field("data")
                    .help("run one sweep for each")
                    .into()),
            }
        })?;
        Ok(Dataset { data })
    }

    /// The trials that can be trained now: name, config, and the epoch after which each pauses.
    fn next_trials(&self) -> PyResult<Vec<(String, String, Option<usize>)>> {
        let next = self.folder.next_trials(&self.space, self.halving).map_err(raise)?;
        Ok(next
            .into_iter()
            .map(|next| (next.trial.name.clone(), next.trial.config.to_toml(), next.last_epoch))
            .collect())
    }

    /// Selects among the trials, and returns the result in JSON. Trains what is not finished.
    fn finish(&self, py: Python<'_>, threads: usize) -> PyResult<String> {
        let (folder, space) = (Arc::clone(&self.folder), Arc::clone(&self.space));
        let halving = self.halving;
        let (observer, _stop) = Observer::new();
        run_detached(py, threads, move || {
            let threads = rayon::current_num_threads();
            let options = SweepOptions { jobs: threads, threads, halving, keep_models: false, shard: None };
            let found = folder.sweep(&space, &options, &observer)?;
            Ok(serde_json::to_string(&found).unwrap_or_default())
        })
    }
}

/// Trains one trial in the folder of a sweep, from wherever it is, until it has been evaluated after `last_epoch`, or to
/// its end.
#[pyfunction]
pub fn train_trial(
    py: Python<'_>,
    config: &str,
    data: &Dataset,
    out: PathBuf,
    last_epoch: Option<usize>,
    threads: usize,
) -> PyResult<()> {
    let layer: toml::Table = config.parse().map_err(|e| invalid(format!("config: {e}")))?;
    let config = Config::from_layers(&[layer]).map_err(raise)?;
    let data = Arc::clone(&data.data);
    let (observer, _stop) = Observer::new();
    run_detached(py, threads, move || {
        let folder = SweepFolder::open(&out, LoadOptions::default())?;
        folder.take_dataset(&config.data, data);
        let threads = rayon::current_num_threads();
        let options = SweepOptions { jobs: 1, threads, halving: None, keep_models: true, shard: None };
        folder.advance(&[Trial::new(config, Vec::new())], last_epoch, &options, &observer)?;
        Ok(())
    })
}

/// Stops the training when the call has ended, as a signal does.
struct Observer(Arc<AtomicBool>);

struct StopAtTheEnd(Arc<AtomicBool>);

impl Observer {
    fn new() -> (Self, StopAtTheEnd) {
        let stop = Arc::new(AtomicBool::new(false));
        (Self(Arc::clone(&stop)), StopAtTheEnd(stop))
    }
}

impl Drop for StopAtTheEnd {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl SweepObserver for Observer {
    fn observe(&self, _: &Trial, _: &TrialEvent<'_>) -> ControlFlow<Stop> {
        match self.0.load(Ordering::Relaxed) {
            true => ControlFlow::Break(Stop::Sweep),
            false => ControlFlow::Continue(()),
        }
    }
}
