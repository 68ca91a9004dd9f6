//! A run with everything that a report needs of it.

use rivalry::eval::MetricAt;
use std::path::{Path, PathBuf};

use rivalry::Result;
use rivalry::config::Config;
use rivalry::train::Record;
use rivalry_runs::inspect::Inspection;
use rivalry_runs::run::{RunFolder, RunRecord, quoted};
use rivalry_runs::selection::Protocol;
use rivalry_runs::sweep::failure;

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
    /// None if the run is unfinished.
    pub record: Option<RunRecord>,
    /// Whether successive halving pruned it: it was evaluated, is unfinished and has no checkpoint to resume from.
    pub pruned: bool,
    /// Why training failed in a sweep, if it did.
    pub failure: Option<String>,
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
        let (log, record) = (folder.log()?, folder.record()?);
        Ok(Self {
            index,
            name,
            settings: RunSettings::of(&config),
            config,
            pruned: record.is_none() && !log.is_empty() && !folder.has_checkpoint(),
            failure: failure(&path)?,
            log,
            record,
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

    /// A validation metric of the selected epoch.
    pub(crate) fn valid(&self, metric: MetricAt) -> Option<f64> {
        self.record.as_ref()?.outcome.valid.as_ref()?.get(&metric).copied()
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
