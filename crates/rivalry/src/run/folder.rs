//! The files of a run and their names.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::checkpoint;
use super::model_file::SavedModel;
use super::origin::Origin;
use crate::config::{Config, read_layer};
use crate::data::Dataset;
use crate::files::{FolderLock, LOCK_FILE, TEMP_PREFIX, write_atomically};
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
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Held by whoever writes.
    _lock: Option<Arc<FolderLock>>,
}

/// `metrics.json`: the figures of a run and what they were obtained with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The figures.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// What they were made with.
    #[serde(flatten)]
    pub origin: Origin,
    /// The seed.
    #[serde(default)]
    pub seed: u64,
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
    /// What was found damaged, if that is why the training begins again. It will end as it would have.
    pub damage: Option<Error>,
}

impl Continuing {
    fn afresh(folder: RunFolder, config: Config, damage: Option<Error>) -> Self {
        Self { folder, config, stopped: None, data_checksum: None, damage }
    }
}

impl RunFolder {
    /// Makes a new run folder. One that exists is refused, unless `replace` says that its run may go.
    pub fn create(path: &Path, config: &Config, replace: bool) -> Result<Self> {
        Self::check_free(path, replace)?;
        std::fs::create_dir_all(path).map_err(|e| Error::io("create", path, e))?;
        let folder = Self { path: path.to_owned(), _lock: Some(Arc::new(FolderLock::acquire(path)?)) };
        for file in FILES {
            remove(&folder.path.join(file))?;
        }
        folder.write_config(config)?;
        Ok(folder)
    }

    /// A new run, or this very one gone on with, whichever the folder holds. The lock is the caller's, taken before.
    pub(crate) fn create_or_resume(path: &Path, config: &Config, lock: FolderLock) -> Result<Continuing> {
        let folder = Self { path: path.to_owned(), _lock: Some(Arc::new(lock)) };
        if !path.join(CONFIG).is_file() {
            folder.write_config(config)?;
        }
        folder.go_on()
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
            // What a process left behind that was killed before it had written anything.
            .filter(|name| name != LOCK_FILE && !name.starts_with(TEMP_PREFIX))
            .collect();
        if names.is_empty() {
            return Ok(());
        }
        if !replace {
            let help = "choose another --out, add --force to replace the run, or --resume it";
            return refuse("exists already".to_owned(), help);
        }
        let foreign = names.iter().find(|name| !FILES.contains(&&name[..]));
        match foreign {
            Some(name) => {
                refuse(format!("holds '{name}', which is not part of a run"), "choose another --out")
            }
            // A config that can't be read is a run's all the same where its log is: this is how to be rid of it.
            None if [CONFIG, LOG].iter().all(|file| names.iter().any(|name| name == file)) => Ok(()),
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
        Ok(Self { path: path.to_owned(), _lock: None })
    }

    /// Opens a run to go on with it. Refused while another process does.
    pub fn resume(path: &Path) -> Result<Continuing> {
        let Self { path, .. } = Self::open(path)?;
        let lock = Some(Arc::new(FolderLock::acquire(&path)?));
        Self { path, _lock: lock }.go_on()
    }

    fn go_on(self) -> Result<Continuing> {
        let config = self.config()?;
        self.check_whole(&config)?;
        if !self.has_checkpoint() {
            return Ok(Continuing::afresh(self, config, None));
        }
        match self.saved() {
            Ok((stopped, data_checksum)) => Ok(Continuing {
                folder: self,
                config,
                stopped: Some(stopped),
                data_checksum: Some(data_checksum),
                damage: None,
            }),
            Err(error) if error.is_damage() => Ok(Continuing::afresh(self, config, Some(error))),
            Err(error) => Err(error),
        }
    }

    /// Refuses a config that was cut short: what is missing would be taken for the defaults.
    fn check_whole(&self, config: &Config) -> Result<()> {
        let path = self.path.join(CONFIG);
        let text = std::fs::read_to_string(&path).map_err(|e| Error::io("read", &path, e))?;
        let whole = config.to_toml();
        if text.len() < whole.len() && whole.starts_with(&text) {
            return Err(InputError::new("the file ends too early")
                .file(path)
                .help("the run can't be gone on with: train it again, with --force or into another folder")
                .into());
        }
        Ok(())
    }

    /// Where it stopped, and the checksum of its data.
    fn saved(&self) -> Result<(Stopped, String)> {
        let (mut stopped, data_checksum) = checkpoint::read(&self.path.join(CHECKPOINT))?;
        if stopped.progress.best.is_some() {
            stopped.best = Some(self.model()?.learned);
        }
        Ok((stopped, data_checksum))
    }

    /// Takes away what a finished run no longer needs; without its checkpoint it can't be given more epochs.
    pub(crate) fn drop_checkpoint(&self) -> Result<()> {
        remove(&self.path.join(CHECKPOINT))
    }

    /// Takes away the model: of most trials of a search only the figures are of interest.
    pub(crate) fn drop_model(&self) -> Result<()> {
        remove(&self.path.join(MODEL))
    }

    /// Takes away what a finished run came to, so that it can be trained again. The figures go first: a run is never
    /// taken for finished that isn't.
    pub(crate) fn forget(&self) -> Result<()> {
        [METRICS, LOG].iter().try_for_each(|file| remove(&self.path.join(file)))
    }

    /// Gives the run another config to go on with, such as one with more epochs. Its figures are no longer final, so
    /// they go first: a run is never taken for finished that isn't.
    pub fn extend(&self, config: &Config) -> Result<()> {
        remove(&self.path.join(METRICS))?;
        self.write_config(config)
    }

    fn write_config(&self, config: &Config) -> Result<()> {
        write_atomically(&self.path.join(CONFIG), |file| file.write_all(config.to_toml().as_bytes()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is anything to resume from.
    pub fn has_checkpoint(&self) -> bool {
        self.path.join(CHECKPOINT).exists()
    }

    /// Whether its model is there: of most trials of a search only the figures are kept.
    pub fn has_model(&self) -> bool {
        self.path.join(MODEL).exists()
    }

    /// The model of the best epoch.
    pub fn model(&self) -> Result<SavedModel> {
        let path = self.path.join(MODEL);
        if !self.has_model() {
            let (what, help) = match self.path.join(METRICS).exists() {
                true => (
                    "the run's model was not kept",
                    "a sweep keeps the models of what it chose; run it with --keep-models for all of them",
                ),
                false => {
                    ("the run has no model yet", "let it finish its first evaluation: rivalry train --resume")
                }
            };
            return Err(InputError::new(what).file(&self.path).help(help).into());
        }
        SavedModel::read(&path)
    }

    /// The figures, if the run is finished.
    pub fn record(&self) -> Result<Option<RunRecord>> {
        let path = self.path.join(METRICS);
        match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(|e| damaged_record(&path, &e)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io("read", &path, e)),
        }
    }

    /// The figures, if the run is finished and they can be read. Damaged ones are made again by resuming the run.
    pub fn intact_record(&self) -> Result<Option<RunRecord>> {
        match self.record() {
            Err(error) if error.is_damage() => Ok(None),
            record => record,
        }
    }

    /// Writes the figures of a finished run.
    pub fn finish(&self, outcome: Outcome, dataset: &Dataset) -> Result<RunRecord> {
        let record = RunRecord {
            outcome,
            origin: Origin::here(),
            seed: self.config()?.train.seed,
            data: dataset.name.clone(),
            data_checksum: dataset.checksum.clone(),
        };
        write_atomically(&self.path.join(METRICS), |file| {
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
        // What was seen in the old model is not in this one.
        remove(&self.folder.inspection_path())?;
        SavedModel::write(&self.folder.path.join(MODEL), model, epoch, self.dataset, self.config)
    }

    fn save_progress(&mut self, progress: &Progress, moment: Moment<'_>) -> Result<()> {
        write_atomically(&self.folder.path.join(LOG), |file| {
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

fn damaged_record(path: &Path, fault: &serde_json::Error) -> Error {
    InputError::new(format!("not a run's figures: {fault}"))
        .file(path)
        .line(fault.line() as u64)
        .help("the file is damaged: bring it back from a copy, or make it again with rivalry train --resume")
        .damage()
        .into()
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io("replace", path, e)),
        _ => Ok(()),
    }
}
