//! Records of finished trainings: their figures in small files that can be kept in a repository.

use std::path::{Path, PathBuf};

use rivalry::eval::Metrics;
use rivalry::files::checksum::TextFormat;
use rivalry::{Error, InputError, Result};
use serde::{Deserialize, Serialize};

use super::plan::{Noise, Plan, Planned};
use crate::json_file::JsonFile;
use crate::presets::CellKey;
use crate::run::Provenance;

const FILE: JsonFile = JsonFile {
    format: TextFormat { name: "rivalry-training-record", version: 1 },
    content: "the record of a training",
    help: "restore the file, or remove it: the training is then run again",
};

/// The figures of one training, and how they were obtained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingRecord {
    /// Data set, model, loss, noise and seed.
    pub name: String,
    /// Data set, model and loss.
    pub key: CellKey,
    /// The noise.
    pub noise: Noise,
    /// The digest of the config.
    pub config: String,
    /// The loss with its parameters.
    pub loss: toml::Table,
    /// The learning rate.
    pub lr: f64,
    /// The weight decay.
    pub weight_decay: f64,
    /// Whether the settings were tuned by our own sweeps; otherwise they are published.
    pub tuned: bool,
    /// The sampler of negatives: `uniform` as published, or `shared`.
    pub sampler: String,
    /// The seed.
    pub seed: u64,
    /// Epochs run.
    pub epochs: usize,
    /// The epoch that was kept.
    pub epoch: usize,
    /// The metrics.
    pub metrics: RecordedMetrics,
    /// The digest of the metrics of each user in the default protocol; records of earlier releases have none.
    #[serde(default)]
    pub per_user_checksum: Option<String>,
    /// The checksum of the data.
    pub data_checksum: String,
    /// The time of the training steps.
    pub train_seconds: f64,
    /// The program and machine.
    pub provenance: Provenance,
}

/// The metrics of one training.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedMetrics {
    /// On the validation set, if there is one.
    pub valid: Metrics,
    /// Test metrics in the published protocol.
    pub reference: Metrics,
    /// Test metrics in the default protocol.
    pub ours: Metrics,
    /// Test metrics of the last epoch that was evaluated.
    pub last: Metrics,
    /// Test metrics of popular items.
    pub head: Metrics,
    /// Test metrics of rare items.
    pub tail: Metrics,
}

/// A folder of records.
#[derive(Clone, Debug)]
pub struct Records {
    folder: PathBuf,
}

impl Records {
    /// The records in this folder, which need not exist yet.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// The record of a training, if there is one.
    ///
    /// # Errors
    /// If the file is damaged, or the record is of other settings.
    pub fn find(&self, planned: &Planned) -> Result<Option<TrainingRecord>> {
        let path = self.path(&planned.trial.name);
        let Some(record) = FILE.read::<TrainingRecord>(&path)? else { return Ok(None) };
        if record.config != planned.digest {
            let what = format!("the record of {} is of other settings", planned.trial.name);
            return Err(InputError::new(what)
                .file(&path)
                .help(
                    "repeat the options that it was made with (--epochs, --patience, --fast), or use another folder",
                )
                .into());
        }
        Ok(Some(record))
    }

    /// The plan without the trainings that have a record.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn missing(&self, plan: &Plan) -> Result<Plan> {
        let mut missing = Plan { planned: Vec::new(), left_out: plan.left_out.clone() };
        for planned in &plan.planned {
            if self.find(planned)?.is_none() {
                missing.planned.push(planned.clone());
            }
        }
        Ok(missing)
    }

    /// Writes a record, whole or not at all.
    ///
    /// # Errors
    /// If the folder can't be made or the file can't be written.
    pub fn write(&self, record: &TrainingRecord) -> Result<()> {
        std::fs::create_dir_all(&self.folder).map_err(|error| Error::io("create", &self.folder, error))?;
        FILE.write(&self.path(&record.name), record)
    }

    /// All records, by name.
    ///
    /// # Errors
    /// If the folder can't be read, or a file in it is damaged.
    pub fn all(&self) -> Result<Vec<TrainingRecord>> {
        let io = |error| Error::io("read", &self.folder, error);
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(io)? {
            let path = entry.map_err(io)?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                paths.push(path);
            }
        }
        paths.sort();
        let records: Result<Vec<Option<TrainingRecord>>> = paths.iter().map(|path| FILE.read(path)).collect();
        Ok(records?.into_iter().flatten().collect())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name.replace('/', "-") + ".json")
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::{Experiment, Request, plan};
    use super::super::results::cell_results;
    use super::*;

    fn two_seeds(patience: Option<usize>) -> Plan {
        let request = Request {
            experiments: vec![Experiment::Table1],
            data: vec!["health".to_owned()],
            backbones: vec!["mf".to_owned()],
            losses: vec!["sl".to_owned()],
            seeds: 2,
            patience,
            ..Request::default()
        };
        plan(&request).unwrap()
    }

    fn record(planned: &Planned, ndcg: f64) -> TrainingRecord {
        let metrics: Metrics = serde_json::from_value(serde_json::json!({ "NDCG@20": ndcg })).unwrap();
        TrainingRecord {
            name: planned.trial.name.clone(),
            key: planned.key.clone(),
            noise: planned.noise,
            config: planned.digest.clone(),
            loss: toml::Table::new(),
            lr: 0.1,
            weight_decay: 0.0,
            tuned: false,
            sampler: planned.sampler().to_owned(),
            seed: planned.trial.config.seed,
            epochs: 60,
            epoch: 35,
            metrics: RecordedMetrics { reference: metrics.clone(), ours: metrics, ..Default::default() },
            per_user_checksum: None,
            data_checksum: "0".to_owned(),
            train_seconds: 12.5,
            provenance: Provenance { command: None, ..Provenance::here() },
        }
    }

    #[test]
    fn what_has_a_record_is_not_missing_and_records_make_the_results() {
        let folder = tempfile::tempdir().unwrap();
        let (plan, records) = (two_seeds(None), Records::new(&folder.path().join("results")));
        assert_eq!(records.missing(&plan).unwrap().planned.len(), 2);
        let first = record(&plan.planned[0], 0.12);
        records.write(&first).unwrap();
        let missing = records.missing(&plan).unwrap();
        assert_eq!(missing.planned.len(), 1);
        assert_eq!(missing.planned[0].trial.name, plan.planned[1].trial.name);
        records.write(&record(&plan.planned[1], 0.14)).unwrap();
        let all = records.all().unwrap();
        assert_eq!(all[0], first);
        let cells = cell_results(&all);
        assert_eq!((cells.len(), cells[0].seeds, &cells[0].epochs[..]), (1, 2, &[35, 35][..]));
        assert!((cells[0].reference["NDCG@20"].mean - 0.13).abs() < 1e-12);
        assert_eq!(cells[0].published["NDCG@20"], 0.1261);
    }

    #[test]
    fn records_of_other_settings_and_damaged_ones_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (plan, records) = (two_seeds(None), Records::new(folder.path()));
        records.write(&record(&plan.planned[0], 0.12)).unwrap();
        let error = records.missing(&two_seeds(Some(5))).unwrap_err().to_string();
        assert!(error.contains("other settings"), "{error}");
        let path = records.path(&plan.planned[0].trial.name);
        let changed = std::fs::read_to_string(&path).unwrap().replace("0.12", "0.15");
        std::fs::write(&path, changed).unwrap();
        assert!(records.all().is_err_and(|error| error.is_damage()));
    }
}
