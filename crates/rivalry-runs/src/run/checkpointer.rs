//! Saves a training into the folder of its run.

use rivalry::Result;
use rivalry::config::Config;
use rivalry::data::Dataset;
use rivalry::model::Model;
use rivalry::tensors::Tensors;
use rivalry::train::{Checkpointer, Progress, Snapshot};

use super::folder::{CHECKPOINT, MODEL, remove};
use super::{RunFolder, checkpoint};

/// Saves a training into the folder of its run.
pub struct RunCheckpointer<'a> {
    folder: &'a RunFolder,
    dataset: &'a Dataset,
    config: &'a Config,
}

impl RunFolder {
    /// The checkpointer of a training on these data.
    pub fn checkpointer<'a>(&'a self, dataset: &'a Dataset, config: &'a Config) -> RunCheckpointer<'a> {
        RunCheckpointer { folder: self, dataset, config }
    }
}

impl Checkpointer for RunCheckpointer<'_> {
    fn save_model(&mut self, tensors: &Tensors, epoch: Option<usize>) -> Result<()> {
        // An inspection of the previous model is not one of this model.
        remove(&self.folder.inspection_path())?;
        let dataset = self.dataset.whole()?;
        let model = Model::new(&dataset, self.config.clone(), tensors.clone(), epoch);
        model.save(&self.folder.path().join(MODEL))
    }

    fn save_progress(&mut self, progress: &Progress, snapshot: Snapshot<'_>) -> Result<()> {
        self.folder.write_log(&progress.history)?;
        let path = self.folder.path().join(CHECKPOINT);
        checkpoint::write(&path, progress, &snapshot, &self.dataset.checksum)
    }
}
