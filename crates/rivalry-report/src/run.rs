//! A run as a report sees it.

use std::path::{Path, PathBuf};

use rivalry::Result;
use rivalry::config::Config;
use rivalry::train::Record;
use rivalry_runs::inspect::Inspection;
use rivalry_runs::run::{RunFolder, RunRecord, quoted};
use rivalry_runs::sweep::failure;

use crate::settings::Settings;

/// One run with all that its folder holds but the model.
pub(crate) struct Run {
    /// Its place among the runs of the report.
    pub number: usize,
    /// Its path within the folder that the report is on.
    pub name: String,
    pub path: PathBuf,
    pub config: Config,
    pub settings: Settings,
    pub log: Vec<Record>,
    /// None if the run is not finished.
    pub record: Option<RunRecord>,
    /// Whether a search gave it up: evaluated, not finished, and with nothing left to go on from.
    pub given_up: bool,
    /// Why it can't be trained, if a search found that it can't.
    pub failure: Option<String>,
    pub inspection: Option<Inspection>,
}

impl Run {
    pub(crate) fn read(folder: &RunFolder, root: &Path, number: usize) -> Result<Self> {
        let path = folder.path().to_owned();
        let within = path.strip_prefix(root).unwrap_or(&path);
        let name = match within.as_os_str().is_empty() {
            true => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            false => within.display().to_string(),
        };
        let config = folder.config()?;
        let (log, record) = (folder.log()?, folder.record()?);
        Ok(Self {
            number,
            name,
            settings: Settings::of(&config),
            config,
            given_up: record.is_none() && !log.is_empty() && !folder.has_checkpoint(),
            failure: failure(&path),
            log,
            record,
            inspection: folder.inspection()?,
            path,
        })
    }

    /// The name of the loss.
    pub(crate) fn loss(&self) -> &str {
        self.config.loss_name().unwrap_or(self.config.model.name())
    }

    /// The name of the backbone.
    pub(crate) fn backbone(&self) -> &str {
        self.config.model.name()
    }

    /// The name of the data: what the run itself recorded, or else the end of the path they were read from.
    pub(crate) fn data(&self) -> String {
        if let Some(record) = &self.record {
            return record.data.clone();
        }
        let source = Path::new(&self.config.data.source);
        source.file_stem().unwrap_or(source.as_os_str()).to_string_lossy().into_owned()
    }

    /// A metric on the validation part, in the epoch that was kept.
    pub(crate) fn valid(&self, metric: &str) -> Option<f64> {
        self.record.as_ref()?.outcome.valid.as_ref()?.get(metric).copied()
    }

    /// A metric on the test part.
    pub(crate) fn test(&self, metric: &str) -> Option<f64> {
        self.record.as_ref()?.outcome.test.get(metric).copied()
    }

    /// The command that trains the same again.
    pub(crate) fn command(&self) -> String {
        format!("rivalry train --config {}", quoted(&self.path.join("config.toml")))
    }
}
