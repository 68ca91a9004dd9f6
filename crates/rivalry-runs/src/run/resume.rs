//! Resuming a run.

use std::path::Path;
use std::sync::Arc;

use rivalry::config::Config;
use rivalry::files::FolderLock;
use rivalry::train::TrainingState;
use rivalry::{Error, InputError, Result};

use super::folder::{CHECKPOINT, CONFIG};
use super::{RunFolder, checkpoint};

/// A run that is about to be continued.
pub struct ResumedRun {
    /// Its folder.
    pub folder: RunFolder,
    /// Its config.
    pub config: Config,
    /// The state to continue from; `None` if nothing was saved yet.
    pub state: Option<TrainingState>,
    /// The checksum of the data it was trained on so far.
    pub data_checksum: Option<String>,
    /// The damaged file, if that is why the training starts from the beginning. It will end with the same result.
    pub damage: Option<Error>,
}

impl ResumedRun {
    fn from_the_beginning(folder: RunFolder, config: Config, damage: Option<Error>) -> Self {
        Self { folder, config, state: None, data_checksum: None, damage }
    }
}

impl RunFolder {
    /// Opens a run to continue it.
    ///
    /// # Errors
    /// If there is no run, another process is writing to it, or its config is damaged.
    pub fn resume(path: &Path) -> Result<ResumedRun> {
        let folder = Self::open(path)?;
        let lock = Arc::new(FolderLock::acquire(path)?);
        folder.with_lock(lock).continue_from_checkpoint()
    }

    /// Starts a run, or continues the one in the folder. The caller holds the lock.
    pub(crate) fn create_or_resume(
        path: &Path,
        config: &Config,
        lock: Option<FolderLock>,
    ) -> Result<ResumedRun> {
        let folder = Self::holding(path, lock);
        if !path.join(CONFIG).is_file() {
            folder.write_config(config)?;
        }
        folder.continue_from_checkpoint()
    }

    fn continue_from_checkpoint(self) -> Result<ResumedRun> {
        let config = self.config()?;
        self.check_complete(&config)?;
        if !self.has_checkpoint() {
            return Ok(ResumedRun::from_the_beginning(self, config, None));
        }
        match self.saved_state() {
            Ok((state, data_checksum)) => Ok(ResumedRun {
                folder: self,
                config,
                state: Some(state),
                data_checksum: Some(data_checksum),
                damage: None,
            }),
            Err(error) if error.is_damage() => Ok(ResumedRun::from_the_beginning(self, config, Some(error))),
            Err(error) => Err(error),
        }
    }

    /// Refuses a truncated config: defaults would silently replace what is missing.
    fn check_complete(&self, config: &Config) -> Result<()> {
        let path = self.path().join(CONFIG);
        let text = std::fs::read_to_string(&path).map_err(|e| Error::io("read", &path, e))?;
        let complete = config.to_toml();
        if text.len() < complete.len() && complete.starts_with(&text) {
            return Err(InputError::new("the file is truncated")
                .file(path)
                .help("the run can't be resumed: train it again, with --force or into another folder")
                .into());
        }
        Ok(())
    }

    /// The saved state, and the checksum of its data.
    fn saved_state(&self) -> Result<(TrainingState, String)> {
        let (mut state, data_checksum) = checkpoint::read(&self.path().join(CHECKPOINT))?;
        if state.progress.best.is_some() {
            state.best = Some(self.model()?.tensors);
        }
        Ok((state, data_checksum))
    }
}
