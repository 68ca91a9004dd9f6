//! The results of the planned trainings.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::plan::{Noise, Plan, Planned};
use super::records::{RecordedMetrics, Records, TrainingRecord};
use crate::run::{Provenance, RunFolder, RunRecord};
use crate::stats::MeanStd;
use rivalry::Result;
use rivalry::data::{Dataset, digest};
use rivalry::eval::{EvalOptions, EvalPart, Evaluation, Metrics, evaluate};
use rivalry::files::checksum::TextFormat;

use crate::json_file::JsonFile;
use crate::presets::{CellKey, paper_cells};

/// The file of the metrics in the default protocol, beside those of the run's own.
pub(crate) const DEFAULT_PROTOCOL: &str = "default-protocol.json";
const FILE: JsonFile = JsonFile {
    format: TextFormat { name: "rivalry-default-protocol", version: 2 },
    content: "a table of metrics",
    help: "remove it: the same command makes it again",
};

/// The content of that file; earlier releases wrote the metrics alone.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum DefaultProtocol {
    Current(Figures),
    Legacy(Metrics),
}

/// The metrics of a model in the default protocol.
#[derive(Clone, Serialize, Deserialize)]
struct Figures {
    metrics: Metrics,
    /// The digest of the metrics of each user, as JSON; earlier files have none.
    #[serde(default)]
    per_user_checksum: Option<String>,
}

/// The metrics of one cell over its seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellResult {
    /// Data set, model and loss.
    pub key: CellKey,
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
    /// The share of false pairs in the training set.
    pub false_positives: f64,
    /// The probability that a negative is a training item of the user.
    pub false_negatives: f64,
    /// The number of finished seeds.
    pub seeds: usize,
    /// The epochs that were kept, by seed.
    pub epochs: Vec<usize>,
    /// Test metrics in the published protocol.
    pub reference: Metrics<MeanStd>,
    /// Test metrics in the default protocol.
    pub ours: Metrics<MeanStd>,
    /// Test metrics of the last epoch, if the epoch was selected on the test set.
    pub last: Metrics<MeanStd>,
    /// Test metrics of popular items.
    pub head: Metrics<MeanStd>,
    /// Test metrics of rare items.
    pub tail: Metrics<MeanStd>,
    /// The published metrics.
    pub published: Metrics,
}

/// The records of the finished trainings of a plan: those that `records` has, and those of the runs in this folder, which are
/// added to `records`. `data` returns the data set of a training that has not been evaluated in the default protocol yet.
///
/// # Errors
/// If a run or a record can't be read or written.
pub fn collect_records(
    folder: &Path,
    plan: &Plan,
    records: Option<&Records>,
    data: &mut dyn FnMut(&Planned) -> Result<std::sync::Arc<Dataset>>,
) -> Result<Vec<TrainingRecord>> {
    let mut found = Vec::new();
    for planned in &plan.planned {
        if let Some(record) = records.map(|records| records.find(planned)).transpose()?.flatten() {
            found.push(record);
        } else if let Some(record) = record_of(folder, planned, data)? {
            records.map(|records| records.write(&record)).transpose()?;
            found.push(record);
        }
    }
    Ok(found)
}

/// The results of all cells, over the seeds that were recorded.
pub fn cell_results(records: &[TrainingRecord]) -> Vec<CellResult> {
    let mut cells: Vec<Vec<&TrainingRecord>> = Vec::new();
    for record in records {
        let same = |known: &TrainingRecord| {
            (&known.key, known.noise, &known.sampler, known.tuned)
                == (&record.key, record.noise, &record.sampler, record.tuned)
        };
        match cells.iter_mut().find(|cell| same(cell[0])) {
            Some(cell) => cell.push(record),
            None => cells.push(vec![record]),
        }
    }
    cells.iter().map(|seeds| together(seeds)).collect()
}

/// The record of a training, if its run is finished.
fn record_of(
    folder: &Path,
    planned: &Planned,
    data: &mut dyn FnMut(&Planned) -> Result<std::sync::Arc<Dataset>>,
) -> Result<Option<TrainingRecord>> {
    let path = folder.join(&planned.trial.name);
    let Ok(run) = RunFolder::open(&path) else { return Ok(None) };
    let Some(record) = run.record()? else { return Ok(None) };
    let RunRecord { outcome, provenance, seed, data_checksum, .. } = record;
    let gradient = planned.trial.config.gradient.as_ref();
    let Figures { metrics: ours, per_user_checksum } = in_default_protocol(&path, &run, planned, data)?;
    Ok(Some(TrainingRecord {
        name: planned.trial.name.clone(),
        key: planned.key.clone(),
        noise: planned.noise,
        config: planned.digest.clone(),
        loss: gradient.map(|gradient| gradient.loss.to_table()).unwrap_or_default(),
        lr: gradient.map_or(0.0, |gradient| gradient.optim.lr()),
        weight_decay: gradient.map_or(0.0, |gradient| gradient.optim.weight_decay()),
        tuned: planned.tuned,
        sampler: planned.sampler().to_owned(),
        seed,
        epochs: outcome.training.as_ref().map_or(0, |training| training.epochs),
        epoch: outcome.training.as_ref().map_or(0, |training| training.best_epoch),
        metrics: RecordedMetrics {
            valid: outcome.valid.unwrap_or_default(),
            reference: outcome.test,
            ours,
            last: run.log()?.pop().and_then(|record| record.test).unwrap_or_default(),
            head: outcome.head.map(|bucket| bucket.metrics).unwrap_or_default(),
            tail: outcome.tail.map(|bucket| bucket.metrics).unwrap_or_default(),
        },
        per_user_checksum,
        data_checksum,
        train_seconds: outcome.seconds.train,
        // The command line may hold paths of the machine.
        provenance: Provenance { command: None, ..provenance },
    }))
}

/// Evaluates a saved model in the default protocol, once.
fn in_default_protocol(
    path: &Path,
    run: &RunFolder,
    planned: &Planned,
    data: &mut dyn FnMut(&Planned) -> Result<std::sync::Arc<Dataset>>,
) -> Result<Figures> {
    let file = path.join(DEFAULT_PROTOCOL);
    match FILE.read(&file)? {
        Some(DefaultProtocol::Current(figures)) => return Ok(figures),
        Some(DefaultProtocol::Legacy(metrics)) => return Ok(Figures { metrics, per_user_checksum: None }),
        None => {}
    }
    let dataset = data(planned)?;
    let scorer = run.model()?.scorer()?;
    let k = planned.trial.config.eval.k.clone();
    let options = EvalOptions { k, per_user: true, ..EvalOptions::default() };
    let Evaluation { metrics, per_user, .. } = evaluate(&*scorer, &dataset, EvalPart::Test, &options)?;
    let bytes = serde_json::to_vec(&per_user).expect("metrics are numbers with names");
    let figures = Figures { metrics, per_user_checksum: Some(digest::of_bytes(&bytes)) };
    FILE.write(&file, &DefaultProtocol::Current(figures.clone()))?;
    Ok(figures)
}

fn together(seeds: &[&TrainingRecord]) -> CellResult {
    let first = seeds[0];
    let spread = |of: fn(&RecordedMetrics) -> &Metrics| {
        MeanStd::of_each(&seeds.iter().map(|record| of(&record.metrics)).collect::<Vec<_>>())
    };
    let (false_positives, false_negatives) = match first.noise {
        Noise::None => (0.0, 0.0),
        Noise::FalsePositives(share) => (share, 0.0),
        Noise::FalseNegatives(likely) => (0.0, likely),
    };
    let published = paper_cells().iter().find(|cell| cell.key == first.key && first.noise == Noise::None);
    CellResult {
        key: first.key.clone(),
        loss: first.loss.clone(),
        lr: first.lr,
        weight_decay: first.weight_decay,
        tuned: first.tuned,
        sampler: first.sampler.clone(),
        false_positives,
        false_negatives,
        seeds: seeds.len(),
        epochs: seeds.iter().map(|record| record.epoch).collect(),
        reference: spread(|metrics| &metrics.reference),
        ours: spread(|metrics| &metrics.ours),
        last: spread(|metrics| &metrics.last),
        head: spread(|metrics| &metrics.head),
        tail: spread(|metrics| &metrics.tail),
        published: published.map(|cell| cell.published.clone()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_in_the_default_protocol_are_read_with_and_without_a_checksum() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(DEFAULT_PROTOCOL);
        let before = r#"{ "NDCG@20": 0.25 }"#;
        let metrics: Metrics = serde_json::from_str(before).unwrap();
        std::fs::write(&file, before).unwrap();
        assert!(
            matches!(FILE.read(&file).unwrap(), Some(DefaultProtocol::Legacy(found)) if found == metrics)
        );
        let per_user_checksum = Some("0".to_owned());
        let figures = Figures { metrics: metrics.clone(), per_user_checksum };
        FILE.write(&file, &DefaultProtocol::Current(figures)).unwrap();
        assert!(
            matches!(FILE.read(&file).unwrap(), Some(DefaultProtocol::Current(found)) if found.metrics == metrics)
        );
        let changed = std::fs::read_to_string(&file).unwrap().replace("0.25", "0.35");
        std::fs::write(&file, changed).unwrap();
        assert!(FILE.read::<DefaultProtocol>(&file).is_err_and(|error| error.is_damage()));
    }
}
