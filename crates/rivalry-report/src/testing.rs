//! Run folders with given metrics, for tests.

use rivalry::eval::{MetricAt, Metrics};
use std::path::Path;

use rivalry::config::{Config, Select, setting_layer, source_layer};
use rivalry::train::{Ending, EpochOutcome, Outcome, Record, Seconds};
use rivalry_runs::run::{DataSize, Provenance, RunFolder, RunRecord, find_runs};
use tempfile::TempDir;

use crate::run::Run;

/// A folder of runs.
pub(crate) struct Runs(TempDir);

impl Runs {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Adds a finished run with these settings and these values of NDCG@20.
    pub(crate) fn finished(&self, name: &str, settings: &[&str], valid: Option<f64>, test: f64) {
        let folder = self.unfinished(name, settings);
        let metrics = |value: f64| {
            Metrics::from_iter([(MetricAt::ndcg(20), value), (MetricAt::recall(20), 1.5 * value)])
        };
        let gradient = folder.config().unwrap().gradient.is_some();
        let outcome = Outcome {
            ending: Ending::Finished,
            training: gradient.then(|| EpochOutcome {
                epochs: 10,
                best_epoch: 10,
                select: if valid.is_some() { Select::Valid } else { Select::Last },
                epoch_seconds: 1.0,
                pairs_per_second: 1.0,
            }),
            valid: valid.map(metrics),
            test: metrics(test),
            head: None,
            tail: None,
            beyond: None,
            nothing_learned: None,
            seconds: Seconds::default(),
        };
        let record = RunRecord {
            outcome,
            provenance: Provenance {
                version: "1.2.3".to_owned(),
                cpu: Some("Abacus 8".to_owned()),
                cores: Some(8),
                threads: 4,
                date: Some("2026-01-31T12:00:00Z".to_owned()),
                ..Provenance::default()
            },
            seed: 0,
            data: folder.config().unwrap().data.source,
            data_checksum: "same".to_owned(),
            split: None,
            skipped_rows: Default::default(),
            data_size: Some(DataSize { users: 1000, items: 500, train: 20_000, valid: 2500, test: 2500 }),
            sharing: None,
        };
        std::fs::write(folder.path().join("metrics.json"), serde_json::to_string(&record).unwrap()).unwrap();
    }

    /// Adds an unfinished run with a log of two evaluations.
    pub(crate) fn unfinished(&self, name: &str, settings: &[&str]) -> RunFolder {
        let mut layers = vec![source_layer("amazon2014-health")];
        layers.extend(settings.iter().map(|setting| setting_layer(setting).unwrap()));
        let config = Config::from_layers(&layers).unwrap();
        let folder = RunFolder::create(&self.path().join(name), &config, false).unwrap();
        let record = |epoch: usize| Record {
            epoch,
            loss: 10.0 / epoch as f64,
            valid: Some(Metrics::from_iter([(MetricAt::ndcg(20), 0.01 * epoch as f64)])),
            test: None,
            best: true,
            seconds: Seconds::default(),
        };
        let log: Vec<String> =
            [5, 10].map(|epoch| serde_json::to_string(&record(epoch)).unwrap() + "\n").into();
        std::fs::write(folder.path().join("log.jsonl"), log.concat()).unwrap();
        std::fs::write(folder.path().join("checkpoint"), "a checkpoint").unwrap();
        folder
    }

    /// Adds a run that successive halving pruned.
    pub(crate) fn pruned(&self, name: &str, settings: &[&str]) {
        let folder = self.unfinished(name, settings);
        std::fs::remove_file(folder.path().join("checkpoint")).unwrap();
    }

    pub(crate) fn read(&self) -> Vec<Run> {
        let found = find_runs(self.path()).unwrap();
        found.iter().enumerate().map(|(index, run)| Run::read(run, self.path(), index).unwrap()).collect()
    }
}
