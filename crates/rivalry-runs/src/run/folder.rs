//! The files of a run and their names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rivalry::config::{Config, read_layer};
use rivalry::data::similar_path;
use rivalry::files::{FolderLock, LOCK_FILE, TEMP_PREFIX};
use rivalry::model::Model;
use rivalry::{Error, InputError, Result};

use super::quoted;

pub(super) const CONFIG: &str = "config.toml";
pub(super) const LOG: &str = "log.jsonl";
pub(super) const METRICS: &str = "metrics.json";
pub(super) const MODEL: &str = "model.safetensors";
pub(super) const CHECKPOINT: &str = "checkpoint";
pub(super) const INSPECTION: &str = "inspect.json";
pub(super) const STANDARD_INPUT: &str = "stdin";
const UPDATE: &str = "update.json";
pub(super) const FILES: [&str; 8] =
    [CONFIG, METRICS, LOG, MODEL, CHECKPOINT, INSPECTION, STANDARD_INPUT, UPDATE];

/// The folder of a run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Held by the process that writes.
    _lock: Option<Arc<FolderLock>>,
}

impl RunFolder {
    /// Creates a run folder. An existing one is refused, unless its run may be replaced.
    ///
    /// # Errors
    /// As [`check_free`](Self::check_free), and if the folder can't be written.
    pub fn create(path: &Path, config: &Config, replace: bool) -> Result<Self> {
        Self::check_free(path, replace)?;
        std::fs::create_dir_all(path).map_err(|e| Error::io("create", path, e))?;
        let folder = Self::holding(path, Some(FolderLock::acquire(path)?));
        // The config is replaced in one step: without one, the folder of a killed process would not be that of a run.
        for file in FILES.iter().filter(|file| **file != CONFIG) {
            remove(&folder.path.join(file))?;
        }
        folder.write_config(config)?;
        Ok(folder)
    }

    /// A folder with its lock held, if there is one.
    pub(super) fn holding(path: &Path, lock: Option<FolderLock>) -> Self {
        Self { path: path.to_owned(), _lock: lock.map(Arc::new) }
    }

    /// The same folder with its lock held.
    pub(super) fn with_lock(self, lock: Arc<FolderLock>) -> Self {
        Self { _lock: Some(lock), ..self }
    }

    /// Checks that [`create`](Self::create) would accept the path, without creating anything.
    ///
    /// # Errors
    /// If the folder exists and may not be replaced, or holds anything but a run.
    pub fn check_free(path: &Path, replace: bool) -> Result<()> {
        let refuse = |what: String, help: &str| Err(InputError::new(what).file(path).help(help).into());
        if path == Path::new("-") {
            return refuse("a run is a folder, not standard output".to_owned(), "choose another --out");
        }
        if !path.exists() {
            return Ok(());
        }
        if !path.is_dir() {
            return refuse("is a file, and a run is a folder".to_owned(), "choose another --out");
        }
        let entries = path.read_dir().map_err(|e| Error::io("read", path, e))?;
        let names: Vec<String> = entries
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            // Left by a process that was killed before it had written anything.
            .filter(|name| name != LOCK_FILE && !name.starts_with(TEMP_PREFIX))
            .collect();
        if names.is_empty() {
            return Ok(());
        }
        if !replace {
            let help = "choose another --out, add --force to replace the run, or go on with it: rivalry train --resume";
            return refuse("already exists".to_owned(), help);
        }
        let foreign = names.iter().find(|name| !FILES.contains(&&name[..]));
        match foreign {
            Some(name) => {
                refuse(format!("holds '{name}', which is not part of a run"), "choose another --out")
            }
            // With a log beside it, even a config that can't be read belongs to a run: --force replaces it.
            None if [CONFIG, LOG].iter().all(|file| names.iter().any(|name| name == file)) => Ok(()),
            None => Config::from_layers(&[read_layer(&path.join(CONFIG))?]).map(|_| ()),
        }
    }

    /// The folder of an existing run.
    ///
    /// # Errors
    /// If there is no run in it.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Err(no_such_run(path).into());
        }
        if !path.join(CONFIG).is_file() {
            return Err(InputError::new(format!("not a run: there is no {CONFIG} in it"))
                .file(path)
                .help("give the folder that 'rivalry train' made")
                .into());
        }
        Ok(Self { path: path.to_owned(), _lock: None })
    }

    /// Whether the run is finished.
    pub fn is_finished(&self) -> bool {
        self.path.join(METRICS).exists()
    }

    /// Removes the checkpoint of a finished run, which then can't be given more epochs.
    pub(crate) fn drop_checkpoint(&self) -> Result<()> {
        remove(&self.path.join(CHECKPOINT))
    }

    /// Removes the model: of most trials of a sweep only the figures are kept.
    pub(crate) fn drop_model(&self) -> Result<()> {
        remove(&self.path.join(MODEL))
    }

    /// Removes the results of a finished run, so that it can be trained again. The figures are removed first, so that an
    /// unfinished run never looks finished.
    pub(crate) fn remove_results(&self) -> Result<()> {
        [METRICS, LOG].iter().try_for_each(|file| remove(&self.path.join(file)))
    }

    /// Removes what a training from the beginning replaces, so that a damaged checkpoint is never taken for a good one, and
    /// an unfinished run never for a finished one.
    ///
    /// # Errors
    /// If a file can't be removed.
    pub fn start_over(&self) -> Result<()> {
        [METRICS, CHECKPOINT].iter().try_for_each(|file| remove(&self.path.join(file)))
    }

    /// Replaces the config of a run that is to be resumed, for example with more epochs. The figures are no longer final;
    /// they are removed first, so that an unfinished run never looks finished.
    ///
    /// # Errors
    /// If a file can't be written.
    pub fn extend(&self, config: &Config) -> Result<()> {
        remove(&self.path.join(METRICS))?;
        self.write_config(config)
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of what came into the run.
    pub(crate) fn update_path(&self) -> PathBuf {
        self.path.join(UPDATE)
    }

    /// Whether there is a checkpoint to resume from.
    pub fn has_checkpoint(&self) -> bool {
        self.path.join(CHECKPOINT).exists()
    }

    /// Whether it has a model: of most trials of a sweep only the figures are kept.
    pub fn has_model(&self) -> bool {
        self.path.join(MODEL).exists()
    }

    /// The model of the best epoch.
    ///
    /// # Errors
    /// If there is none, or its file is damaged.
    pub fn model(&self) -> Result<Model> {
        let path = self.path.join(MODEL);
        if !self.has_model() {
            let (what, help) = match self.is_finished() {
                true => (
                    "the run's model was not kept",
                    "a sweep keeps the models of the best trials; run it with --keep-models to keep all"
                        .to_owned(),
                ),
                false => (
                    "the run has no model yet",
                    format!(
                        "let it finish its first evaluation: rivalry train --resume {}",
                        quoted(&self.path)
                    ),
                ),
            };
            return Err(InputError::new(what).file(&self.path).help(help).into());
        }
        Model::read(&path)
    }
}

/// The model in a model file, or of the run in a folder.
///
/// # Errors
/// If there is none, or its file is damaged.
pub fn open_model(path: &Path) -> Result<Model> {
    if !path.exists() {
        return Err(no_such_run(path).into());
    }
    if path.is_dir() { RunFolder::open(path)?.model() } else { Model::read(path) }
}

/// The error for a path that doesn't exist, with the name beside it that was meant, if one is similar.
fn no_such_run(path: &Path) -> InputError {
    let error = InputError::new("no such file or folder").file(path);
    match similar_path(path) {
        Some(similar) => error.help(format!("did you mean {}?", quoted(&similar))),
        None => error.help("give the folder that 'rivalry train' made, or a model file"),
    }
}

/// The model file that [`open_model`] reads: the file itself, or the one in a run folder.
pub fn model_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(MODEL) } else { path.to_owned() }
}

/// Removes a file, if it exists.
pub(super) fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io("replace", path, e)),
        _ => Ok(()),
    }
}
