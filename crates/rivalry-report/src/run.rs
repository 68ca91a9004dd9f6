//! A run with everything that a report needs of it.

use rivalry::eval::MetricAt;
use std::path::{Path, PathBuf};

use rivalry::Result;
use rivalry::config::Config;
use rivalry::train::{Record, Seconds};
use rivalry_runs::inspect::Inspection;
use rivalry_runs::run::{RunFolder, RunRecord, quoted};
use rivalry_runs::selection::Protocol;
use rivalry_runs::sweep::RunState;

use crate::settings::RunSettings;

/// A run: the contents of its folder without the model.
pub(crate) struct Run {
    /// Its index among the runs of the report.
    pub index: usize,
    /// Its path relative to the folder of the report.
    pub name: String,
    pub path: PathBuf,
    pub config: Config,
    pub settings: RunSettings,
    pub log: Vec<Record>,
    /// The metrics of a finished run.
    pub record: Option<RunRecord>,
    pub state: RunState,
    pub inspection: Option<Inspection>,
}

impl Run {
    pub(crate) fn read(folder: &RunFolder, root: &Path, index: usize) -> Result<Self> {
        let path = folder.path().to_owned();
        let relative = path.strip_prefix(root).unwrap_or(&path);
        let name = match relative.as_os_str().is_empty() {
            true => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            false => relative.display().to_string(),
        };
        let config = folder.config()?;
        Ok(Self {
            index,
            name,
            settings: RunSettings::of(&config),
            config,
            log: folder.log()?,
            record: folder.record()?,
            state: RunState::of(folder)?,
            inspection: folder.inspection()?,
            path,
        })
    }

    /// The name of the loss, or of the model if it is a closed form.
    pub(crate) fn loss(&self) -> &str {
        self.config.loss_name().unwrap_or(self.config.model.name())
    }

    /// Whether the model is a closed form: it has no loss and no epochs.
    pub(crate) fn is_closed_form(&self) -> bool {
        self.config.gradient.is_none()
    }

    /// The name of the model.
    pub(crate) fn backbone(&self) -> &str {
        self.config.model.name()
    }

    /// The name of the data set: as recorded by the run, otherwise the file name of the source without extension.
    pub(crate) fn data(&self) -> String {
        if let Some(record) = &self.record {
            return record.data.clone();
        }
        let source = Path::new(&self.config.data.source);
        source.file_stem().unwrap_or(source.as_os_str()).to_string_lossy().into_owned()
    }

    /// The protocol of a finished run.
    pub(crate) fn protocol(&self) -> Option<Protocol> {
        Some(Protocol::of(&self.config, self.record.as_ref()?))
    }

    /// The epoch whose model was kept, if the run is finished and has epochs.
    pub(crate) fn best_epoch(&self) -> Option<usize> {
        Some(self.record.as_ref()?.outcome.training.as_ref()?.best_epoch)
    }

    /// A validation metric of the selected epoch.
    pub(crate) fn valid(&self, metric: MetricAt) -> Option<f64> {
        self.record.as_ref()?.outcome.valid.as_ref()?.get(&metric).copied()
    }

    /// The metric by which its epoch and setting are selected.
    pub(crate) fn metric(&self) -> MetricAt {
        self.config.eval.selection_metric()
    }

    /// The validation value of the selection metric: of the selected epoch, or the best so far.
    pub(crate) fn best_valid(&self) -> Option<f64> {
        let metric = self.metric();
        if self.record.is_some() {
            return self.valid(metric);
        }
        let values = self.log.iter().filter_map(|record| record.valid.as_ref()?.get(&metric).copied());
        values.max_by(f64::total_cmp)
    }

    /// The number of epochs it was trained for.
    pub(crate) fn epochs(&self) -> Option<usize> {
        match &self.record {
            Some(record) => record.outcome.training.as_ref().map(|training| training.epochs),
            None => self.log.last().map(|record| record.epoch),
        }
    }

    /// The time it was trained and evaluated for, if it was evaluated.
    pub(crate) fn seconds(&self) -> Option<f64> {
        let last = || Some(self.log.last()?.seconds);
        let Seconds { train, eval } =
            self.record.as_ref().map(|record| record.outcome.seconds).or_else(last)?;
        Some(train + eval)
    }

    /// A test metric.
    pub(crate) fn test(&self, metric: MetricAt) -> Option<f64> {
        self.record.as_ref()?.outcome.test.get(&metric).copied()
    }

    /// The command that trains the run again.
    pub(crate) fn command(&self) -> String {
        format!("rivalry train --config {}", quoted(&self.path.join("config.toml")))
    }
}
