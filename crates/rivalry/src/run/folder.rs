//! The files of a run and their names.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::model_file::SavedModel;
use super::{atomic, checkpoint};
use crate::config::{Config, read_layer};
use crate::data::Dataset;
use crate::train::{Model, Moment, Outcome, Progress, Stopped, Store};
use crate::{Error, InputError, Result};

pub(super) const CONFIG: &str = "config.toml";
pub(super) const LOG: &str = "log.jsonl";
const METRICS: &str = "metrics.json";
const MODEL: &str = "model.safetensors";
const CHECKPOINT: &str = "checkpoint";
pub(super) const INSPECTION: &str = "inspect.json";
const FILES: [&str; 6] = [CONFIG, LOG, METRICS, MODEL, CHECKPOINT, INSPECTION];

/// The folder of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

/// `metrics.json`: the figures of a run and what they were obtained with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The figures.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The release of Rivalry.
    pub version: String,
    /// The instructions the kernels used.
    pub simd: String,
    /// How many threads there were; they can't change the figures.
    pub threads: usize,
    /// The name of the data.
    pub data: String,
    /// The checksum of the data.
    pub data_checksum: String,
}

/// A run taken up again.
pub struct Continuing {
    /// Its folder.
    pub folder: RunFolder,
    /// Its config.
    pub config: Config,
    /// Where it stopped; none if it had not saved anything yet.
    pub stopped: Option<Stopped>,
    /// The checksum of the data it was trained on so far.
    pub data_checksum: Option<String>,
}

impl RunFolder {
    /// Makes a new run folder. One that exists is refused, unless `replace` says that its run may go.
    pub fn create(path: &Path, config: &Config, replace: bool) -> Result<Self> {
        Self::check_free(path, replace)?;
        std::fs::create_dir_all(path).map_err(|e| Error::io("create", path, e))?;
        let folder = Self { path: path.to_owned() };
        for file in FILES {
            remove(&folder.path.join(file))?;
        }
        folder.write_config(config)?;
        Ok(folder)
    }

    /// Refuses a path that [`create`](Self::create) would refuse, without making anything: one that is taken and may
    /// not be replaced, or that holds anything but a run.
    pub fn check_free(path: &Path, replace: bool) -> Result<()> {
        if !path.exists() {
            return Ok(());
        }
        let refuse = |what: String, help: &str| Err(InputError::new(what).file(path).help(help).into());
        if !path.is_dir() {
            return refuse("is a file, and a run is a folder".to_owned(), "choose another --out");
        }
        let entries = path.read_dir().map_err(|e| Error::io("read", path, e))?;
        let names: Vec<String> = entries
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .collect();
        if names.is_empty() {
            return Ok(());
        }
        if !replace {
            let help = "choose another --out, add --force to replace the run, or --resume it";
            return refuse("exists already".to_owned(), help);
        }
        let foreign = names.iter().find(|name| !FILES.contains(&&name[..]) && !name.starts_with(".tmp-"));
        match foreign {
            Some(name) => {
                refuse(format!("holds '{name}', which is not part of a run"), "choose another --out")
            }
            None => Config::from_layers(&[read_layer(&path.join(CONFIG))?]).map(|_| ()),
        }
    }

    /// The folder of an existing run.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.join(CONFIG).is_file() {
            return Err(InputError::new(format!("not a run: there is no {CONFIG} in it"))
                .file(path)
                .help("give the folder that 'rivalry train' made")
                .into());
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Opens a run to go on with it.
    pub fn resume(path: &Path) -> Result<Continuing> {
        let folder = Self::open(path)?;
        let config = Config::from_layers(&[read_layer(&path.join(CONFIG))?])?;
        if !folder.has_checkpoint() {
            return Ok(Continuing { folder, config, stopped: None, data_checksum: None });
        }
        let (mut stopped, data_checksum) = checkpoint::read(&path.join(CHECKPOINT))?;
        if stopped.progress.best.is_some() {
            stopped.best = Some(folder.model()?.learned);
        }
        Ok(Continuing { folder, config, stopped: Some(stopped), data_checksum: Some(data_checksum) })
    }

    /// Gives the run another config to go on with, such as one with more epochs. Its figures are no longer final, so
    /// they go first: a run is never taken for finished that isn't.
    pub fn extend(&self, config: &Config) -> Result<()> {
        remove(&self.path.join(METRICS))?;
        self.write_config(config)
    }

    fn write_config(&self, config: &Config) -> Result<()> {
        atomic::write(&self.path.join(CONFIG), |file| file.write_all(config.to_toml().as_bytes()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is anything to resume from.
    pub fn has_checkpoint(&self) -> bool {
        self.path.join(CHECKPOINT).exists()
    }

    /// The model of the best epoch.
    pub fn model(&self) -> Result<SavedModel> {
        let path = self.path.join(MODEL);
        if !path.exists() {
            return Err(InputError::new("the run has no model yet")
                .file(&self.path)
                .help("let it finish its first evaluation: rivalry train --resume")
                .into());
        }
        SavedModel::read(&path)
    }

    /// The figures, if the run is finished.
    pub fn record(&self) -> Result<Option<RunRecord>> {
        let path = self.path.join(METRICS);
        match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|e| InputError::new(format!("not a run's figures: {e}")).file(&path).into()),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io("read", &path, e)),
        }
    }

    /// Writes the figures of a finished run.
    pub fn finish(&self, outcome: Outcome, dataset: &Dataset) -> Result<RunRecord> {
        let record = RunRecord {
            outcome,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            simd: rivalry_kernels::level_name().to_owned(),
            threads: rayon::current_num_threads(),
            data: dataset.name.clone(),
            data_checksum: dataset.checksum.clone(),
        };
        atomic::write(&self.path.join(METRICS), |file| {
            serde_json::to_writer_pretty(&mut *file, &record)?;
            file.write_all(b"\n")
        })?;
        Ok(record)
    }

    /// The store of a training on these data.
    pub fn store<'a>(&'a self, dataset: &'a Dataset, config: &'a Config) -> RunStore<'a> {
        RunStore { folder: self, dataset, config }
    }
}

/// Saves a training into its run's folder.
pub struct RunStore<'a> {
    folder: &'a RunFolder,
    dataset: &'a Dataset,
    config: &'a Config,
}

impl Store for RunStore<'_> {
    fn save_best(&mut self, model: &Model, epoch: usize) -> Result<()> {
        SavedModel::write(&self.folder.path.join(MODEL), model, epoch, self.dataset, self.config)
    }

    fn save_progress(&mut self, progress: &Progress, moment: Moment<'_>) -> Result<()> {
        atomic::write(&self.folder.path.join(LOG), |file| {
            for record in &progress.history {
                serde_json::to_writer(&mut *file, record)?;
                file.write_all(b"\n")?;
            }
            Ok(())
        })?;
        let path = self.folder.path.join(CHECKPOINT);
        checkpoint::write(&path, progress, moment, &self.dataset.checksum)
    }
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io("replace", path, e)),
        _ => Ok(()),
    }
}
