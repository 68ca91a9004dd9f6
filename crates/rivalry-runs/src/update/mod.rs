//! A finished run continued with new interactions: [`Update`].
//!
//! Users and items of the run keep their numbers, and new ones follow in the order in which they appear. A gradient model
//! goes on from its tables ([`warm_start`]); a closed form is fitted again. All interactions are for training, as for a
//! model in production. The same run and the same logs give the same bits.

mod merge;
mod record;

use std::path::PathBuf;

use rivalry::config::{Config, Select};
use rivalry::data::{DataConfig, Dataset, LoadOptions, Split, Validation, load_raw};
use rivalry::model::Model;
use rivalry::train::{TrainingState, warm_start};

pub use record::{NewLogRecord, UpdateRecord};

use self::merge::Merged;
use crate::run::{FinishedRun, Provenance};
use crate::{InputError, Result};

/// What to update, and with what.
#[derive(Clone, Debug)]
pub struct UpdateOptions {
    /// The folder of a finished run.
    pub run: PathBuf,
    /// Logs of new interactions.
    pub logs: Vec<NewLog>,
    /// The number of epochs of a gradient model; by default [`usual_epochs`].
    pub epochs: Option<usize>,
    /// How much memory reading may use.
    pub load: LoadOptions,
}

/// A log of new interactions.
#[derive(Clone, Debug)]
pub struct NewLog {
    /// The path of a file.
    pub source: String,
    /// How to read it: a table of settings under `data.read`. What it leaves open is as in the run.
    pub read: toml::Table,
    /// Whether it is the feedback of a server, which has no ratings.
    pub feedback: bool,
}

/// A run and what came in, ready to be trained.
pub struct Update {
    model: Model,
    config: Config,
    dataset: Dataset,
    record: UpdateRecord,
}

/// The epochs that a gradient model is trained further: a fifth of those it was trained for, but at least three.
pub fn usual_epochs(trained: usize) -> usize {
    trained.div_ceil(5).max(3)
}

impl Update {
    /// Reads the run and the logs.
    ///
    /// # Errors
    /// If the run is not finished, a log can't be read, or has nothing to do with the run.
    pub fn new(options: &UpdateOptions) -> Result<Self> {
        let run = FinishedRun::open(&options.run)?;
        let model = run.folder.model()?;
        let mut merged = Merged::of(&model)?;
        let mut logs = Vec::new();
        for log in &options.logs {
            let config = data_config(&run.config, log)?;
            let (_, raw) = load_raw(&config, &options.load, &mut |_| {})?;
            logs.push(merged.add(raw, log, config.prepare.min_rating)?);
        }
        let config = update_config(&run.config, model.epoch, options.epochs)?;
        let record = UpdateRecord {
            of: std::path::absolute(&options.run).unwrap_or_else(|_| options.run.clone()),
            of_data: model.data_checksum.clone(),
            new_users: merged.new_users(),
            new_items: merged.new_items(),
            logs,
            provenance: Provenance::here(),
        };
        if record.new_pairs() == 0 {
            return Err(InputError::new("there is nothing new: the run knows all of these interactions")
                .file(&options.run)
                .help("give a log with other interactions")
                .into());
        }
        let dataset = merged.dataset(&run.record.data)?;
        Ok(Self { model, config, dataset, record })
    }

    /// The config of the new run.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// All interactions.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// What came in.
    pub fn record(&self) -> &UpdateRecord {
        &self.record
    }

    /// The state to train from; `None` for a closed form, which is fitted again.
    ///
    /// # Errors
    /// If the model of the run is damaged.
    pub fn state(&self) -> Result<Option<TrainingState>> {
        self.config
            .gradient
            .as_ref()
            .map(|_| warm_start(&self.model, &self.dataset, &self.config))
            .transpose()
    }
}

/// How a new log is read: as that of the run, unless the settings say otherwise.
fn data_config(run: &Config, log: &NewLog) -> Result<DataConfig> {
    let table = |value: &DataConfig| toml::Table::try_from(value).unwrap_or_default();
    let mut layers = Vec::new();
    if !log.feedback {
        let own = table(&run.data).remove("read").unwrap_or_else(|| toml::Table::new().into());
        layers.push(section("read", own));
    }
    layers.push(section("read", log.read.clone().into()));
    layers.push(section("source", log.source.clone().into()));
    let mut config = Config::from_layers(&layers)?.data;
    config.prepare.min_rating = if log.feedback { None } else { run.data.prepare.min_rating };
    Ok(config)
}

fn section(name: &str, value: toml::Value) -> toml::Table {
    let data = toml::Table::from_iter([(name.to_owned(), value)]);
    toml::Table::from_iter([("data".to_owned(), data.into())])
}

/// The config of the run, for a training on all interactions.
fn update_config(run: &Config, trained: Option<usize>, epochs: Option<usize>) -> Result<Config> {
    let mut config = run.clone();
    config.data.prepare.split = Split::None {};
    config.data.prepare.validation = Validation::None {};
    match &mut config.gradient {
        Some(gradient) => {
            let trained = trained.unwrap_or(gradient.train.epochs);
            gradient.train.epochs = epochs.unwrap_or_else(|| usual_epochs(trained));
            gradient.train.patience = None;
            gradient.train.select = Some(Select::Last);
        }
        None if epochs.is_some() => {
            let what = format!("{} is a closed-form model: it has no epochs", run.model.name());
            return Err(InputError::new(what).field("train.epochs").help("leave the epochs out").into());
        }
        None => {}
    }
    Ok(config)
}
