//! From a log to the best model for it, within a time budget: [`Auto`].
//!
//! The log is read, filtered and split ([`Understood`]). The cheap models are fitted first, each with its defaults and a
//! small search; the rest of the budget goes to models trained by gradients, in waves of successive halving, and what they
//! leave to the cheap models again. All trials
//! are those of one [`SweepFolder`], so a search survives the death of its process, and the same search goes on where it
//! was. The validation set alone decides. The winner is tested once and then trained on all interactions.
//!
//! ```text
//! FOLDER/trials/     one run folder per trial
//! FOLDER/models/     the best run of each model, to compare
//! FOLDER/best/       the winner, trained on everything
//! FOLDER/auto.json   what was understood, tried and chosen
//! ```

mod clock;
mod closed_forms;
mod finish;
mod folder;
mod gradient;
mod leaders;
mod lists;
mod ratings;
mod record;
mod search;
#[cfg(test)]
mod tests;
mod understand;

use std::path::Path;
use std::sync::Arc;

use rivalry::InputError;
use rivalry::data::{DataConfig, Dataset, LoadOptions};
use rivalry::eval::{EvalOptions, MetricAt};
use rivalry::files::FolderLock;
use serde::{Deserialize, Serialize};

pub use folder::PAGE;
pub use leaders::{Leader, Leaders};
pub use lists::ListsResult;
pub use record::{AutoRecord, FinalRun, ModelResult, TestResult};
pub use understand::Understood;

use self::clock::Clock;
use self::closed_forms::{FIRST_SHARE, nothing_fitted};
use self::record::SpentFile;
use self::search::Search;
use self::understand::{Prepared, understand};
use crate::run::Provenance;
use crate::sweep::{SweepFolder, SweepObserver, SweepOptions};
use crate::{Error, Result};

/// What to search, and for how long.
#[derive(Clone, Debug)]
pub struct AutoOptions {
    /// The settings of the data: at least `data.source`. What they leave open is decided by the data.
    pub settings: toml::Table,
    /// The metric that decides (default: NDCG@20, or of shorter lists where there are few items).
    pub metric: Option<MetricAt>,
    /// The budget in minutes.
    pub minutes: f64,
    /// The number of threads.
    pub threads: usize,
    /// Where named data sets are searched, and how much memory may be used.
    pub load: LoadOptions,
}

/// A search that is about to start: the log is read, nothing is written.
pub struct Auto {
    options: AutoOptions,
    metric: MetricAt,
    understood: Understood,
    data: DataConfig,
    dataset: Arc<Dataset>,
}

/// Something that was not tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The model.
    pub model: String,
    /// Why not.
    pub reason: String,
}

/// What the search is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Fits the cheap models.
    ClosedForms,
    /// Trains models by gradients.
    Gradient {
        /// The wave of successive halving, from 1.
        wave: usize,
    },
    /// Tests the best of each model.
    Testing,
    /// Trains the winner on everything.
    TrainingWinner {
        /// The number of epochs, where there are epochs.
        epochs: Option<usize>,
    },
}

/// An event in the course of a search.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AutoEvent<'a> {
    /// The next stage begins.
    Stage(Stage),
    /// A model has come to a better value.
    Led(&'a Leaders),
    /// Something is not tried.
    Skipped(&'a Skipped),
    /// The search is over: because the user asked to stop it, or because the budget is spent. From here on, a request to
    /// stop concerns what follows.
    SearchEnded {
        /// Whether the user asked.
        interrupted: bool,
    },
}

/// Observes a search. Its answers to the events of trials may stop the search, which then ends with the best so far.
pub trait AutoObserver: SweepObserver {
    /// Is called for every event that is not one of a trial.
    fn auto(&self, event: &AutoEvent<'_>);
}

/// Seconds in a minute.
const MINUTE: f64 = 60.0;

impl Auto {
    /// Reads the log, and decides how to filter and split it.
    ///
    /// # Errors
    /// If the log can't be read, is too small to hold anything out, or the metric can't be measured on it.
    pub fn new(options: AutoOptions) -> Result<Self> {
        if !(options.minutes > 0.0 && options.minutes.is_finite()) {
            return Err(InputError::new(format!("found {}, expected a time above zero", options.minutes))
                .field("minutes")
                .help("give the minutes that the search may take, such as 10")
                .into());
        }
        let Prepared { mut understood, config, dataset } = understand(&options.settings, &options.load)?;
        let metric = options.metric.unwrap_or_else(|| usual_metric(&dataset));
        let eval = EvalOptions { k: vec![metric.k()], select_by: Some(metric), ..EvalOptions::default() };
        eval.check(&dataset)?;
        eval.check_selection()?;
        if options.metric.is_none() && metric != MetricAt::ndcg(20) {
            let items = dataset.items.len();
            understood
                .notes
                .push(format!("there are {items} items, so lists of {} are measured", metric.k()));
        }
        let evaluable = |user: &u32| !dataset.valid.items_of(*user).is_empty();
        let users = (0..dataset.users.len() as u32).filter(evaluable).count();
        if users < FEW_USERS {
            understood.notes.push(format!(
                "{users} users have validation items: too few to tell good models from lucky ones"
            ));
        }
        Ok(Self { options, metric, understood, data: config, dataset: Arc::new(dataset) })
    }

    /// What was understood of the log.
    pub fn understood(&self) -> &Understood {
        &self.understood
    }

    /// The metric that decides.
    pub fn metric(&self) -> MetricAt {
        self.metric
    }

    /// Searches in this folder, or goes on with the search in it, until the budget is spent or the observer asks to stop,
    /// and ends with the best so far. `None` if the observer asked to stop while that was tested or trained on
    /// everything: the same search goes on with it.
    ///
    /// # Errors
    /// If the folder can't be written or holds a search on other data, or not even popularity can be fitted.
    pub fn run(&self, out: &Path, observer: &dyn AutoObserver) -> Result<Option<AutoRecord>> {
        folder::check(out)?;
        std::fs::create_dir_all(out).map_err(|e| Error::io("create", out, e))?;
        let _lock = FolderLock::acquire(out)?;
        let spent = SpentFile::in_folder(out);
        let clock = Clock::new(observer, self.options.minutes * MINUTE, &spent)?;
        spent.write(clock.spent())?;
        let mut search = self.search(out, clock, observer)?;
        if search.closed_forms(FIRST_SHARE)? && search.gradient_models()? {
            search.closed_forms(1.0)?;
        }
        search.take_up_earlier_trials()?;
        search.folder.write_index(&search.tried)?;
        let (seconds, interrupted) = (search.clock.spent(), search.clock.interrupted());
        spent.write(seconds)?;
        observer.auto(&AutoEvent::SearchEnded { interrupted });
        let finalists = search.finalists()?;
        let Some(winner) = finalists.first() else { return Err(nothing_fitted(search.skipped.first())) };
        let tested = search.test(out, &finalists, self.metric)?;
        let lists = lists::compare_lists(&tested.runs, &self.dataset, self.metric, search.memory)?;
        let Some(run) = search.train_winner(out, winner)? else { return Ok(None) };
        let record = AutoRecord {
            understood: self.understood.clone(),
            metric: self.metric,
            minutes: self.options.minutes,
            seconds,
            interrupted,
            trials: search.tried.len(),
            models: tested.models,
            skipped: search.skipped,
            test: tested.test,
            comparison: tested.comparison,
            lists,
            run,
            provenance: Provenance::here(),
        };
        record.write(out)?;
        Ok(Some(record))
    }

    fn search<'a>(&self, out: &Path, clock: Clock<'a>, observer: &'a dyn AutoObserver) -> Result<Search<'a>> {
        let threads = self.options.threads.max(1);
        let load = self.options.load.clone();
        let folder = SweepFolder::open(&out.join(folder::TRIALS), load.clone())?;
        folder.take_dataset(&self.data, Arc::clone(&self.dataset));
        Ok(Search {
            folder,
            dataset: Arc::clone(&self.dataset),
            task: self.task(),
            options: SweepOptions { jobs: threads, threads, halving: None, keep_models: false, shard: None },
            memory: load.memory,
            load,
            clock,
            observer,
            tried: Vec::new(),
            skipped: Vec::new(),
        })
    }

    /// The settings that all trials share.
    fn task(&self) -> toml::Table {
        let data = toml::Value::try_from(&self.data).expect("settings of data hold nothing that TOML can't");
        let k = toml::Value::Array(vec![(self.metric.k() as i64).into()]);
        let select_by = toml::Value::String(self.metric.to_string());
        let eval = toml::Table::from_iter([("k".to_owned(), k), ("select_by".to_owned(), select_by)]);
        toml::Table::from_iter([("data".to_owned(), data), ("eval".to_owned(), eval.into())])
    }
}

/// Fewer users than this are noted.
const FEW_USERS: usize = 50;

/// NDCG@20, or of lists of half the items where there are fewer than forty.
fn usual_metric(dataset: &Dataset) -> MetricAt {
    MetricAt::ndcg((dataset.items.len() / 2).clamp(1, 20))
}
