//! The results of the planned trainings.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::plan::{Noise, Plan, Planned};
use crate::run::RunFolder;
use crate::stats::MeanStd;
use rivalry::Result;
use rivalry::data::Dataset;
use rivalry::eval::{EvalOptions, EvalPart, Metrics, evaluate};
use rivalry::files::checksum::TextFormat;

use crate::json_file::JsonFile;
use crate::presets::CellKey;

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
    Current { metrics: Metrics },
    Legacy(Metrics),
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

/// Collects the results of the finished trainings of a plan in this folder, in the order of the published tables. `data`
/// returns the data set of a training that has not been evaluated in the default protocol yet.
pub fn collect_results(
    folder: &Path,
    plan: &Plan,
    data: &mut dyn FnMut(&Planned) -> Result<std::sync::Arc<Dataset>>,
) -> Result<Vec<CellResult>> {
    let mut cells: Vec<(&Planned, Vec<Figures>)> = Vec::new();
    for planned in &plan.planned {
        let Some(figures) = Figures::of(folder, planned, data)? else { continue };
        let same = |known: &Planned| known.key == planned.key && known.noise == planned.noise;
        match cells.iter_mut().find(|(known, _)| same(known)) {
            Some((_, seeds)) => seeds.push(figures),
            None => cells.push((planned, vec![figures])),
        }
    }
    Ok(cells.into_iter().map(|(planned, seeds)| together(planned, &seeds)).collect())
}

/// The metrics of one seed.
struct Figures {
    epoch: usize,
    reference: Metrics,
    ours: Metrics,
    last: Metrics,
    head: Metrics,
    tail: Metrics,
}

impl Figures {
    /// The metrics of a training, if it is finished.
    fn of(
        folder: &Path,
        planned: &Planned,
        data: &mut dyn FnMut(&Planned) -> Result<std::sync::Arc<Dataset>>,
    ) -> Result<Option<Self>> {
        let path = folder.join(&planned.trial.name);
        let Ok(run) = RunFolder::open(&path) else { return Ok(None) };
        let Some(record) = run.record()? else { return Ok(None) };
        let outcome = record.outcome;
        let last = run.log()?.pop().and_then(|record| record.test).unwrap_or_default();
        Ok(Some(Self {
            epoch: outcome.training.map_or(0, |training| training.best_epoch),
            reference: outcome.test,
            ours: in_default_protocol(&path, &run, planned, data)?,
            last,
            head: outcome.head.map(|bucket| bucket.metrics).unwrap_or_default(),
            tail: outcome.tail.map(|bucket| bucket.metrics).unwrap_or_default(),
        }))
    }
}

/// Evaluates a saved model in the default protocol, once.
fn in_default_protocol(
    path: &Path,
    run: &RunFolder,
    planned: &Planned,
    data: &mut dyn FnMut(&Planned) -> Result<std::sync::Arc<Dataset>>,
) -> Result<Metrics> {
    let file = path.join(DEFAULT_PROTOCOL);
    match FILE.read(&file)? {
        Some(DefaultProtocol::Current { metrics } | DefaultProtocol::Legacy(metrics)) => return Ok(metrics),
        None => {}
    }
    let dataset = data(planned)?;
    let scorer = run.model()?.scorer()?;
    let options = EvalOptions { k: planned.trial.config.eval.k.clone(), ..EvalOptions::default() };
    let metrics = evaluate(&*scorer, &dataset, EvalPart::Test, &options)?.metrics;
    FILE.write(&file, &DefaultProtocol::Current { metrics: metrics.clone() })?;
    Ok(metrics)
}

fn together(planned: &Planned, seeds: &[Figures]) -> CellResult {
    let spread = |of: fn(&Figures) -> &Metrics| MeanStd::of_each(&seeds.iter().map(of).collect::<Vec<_>>());
    let (false_positives, false_negatives) = match planned.noise {
        Noise::None => (0.0, 0.0),
        Noise::FalsePositives(share) => (share, 0.0),
        Noise::FalseNegatives(likely) => (0.0, likely),
    };
    let gradient = planned.trial.config.gradient.as_ref();
    CellResult {
        key: planned.key.clone(),
        loss: gradient.map(|gradient| gradient.loss.to_table()).unwrap_or_default(),
        lr: gradient.map_or(0.0, |gradient| gradient.optim.lr()),
        weight_decay: gradient.map_or(0.0, |gradient| gradient.optim.weight_decay()),
        tuned: planned.tuned,
        false_positives,
        false_negatives,
        seeds: seeds.len(),
        epochs: seeds.iter().map(|seed| seed.epoch).collect(),
        reference: spread(|figures| &figures.reference),
        ours: spread(|figures| &figures.ours),
        last: spread(|figures| &figures.last),
        head: spread(|figures| &figures.head),
        tail: spread(|figures| &figures.tail),
        published: planned.published.cloned().unwrap_or_default(),
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
        FILE.write(&file, &DefaultProtocol::Current { metrics: metrics.clone() }).unwrap();
        assert!(
            matches!(FILE.read(&file).unwrap(), Some(DefaultProtocol::Current { metrics: found }) if found == metrics)
        );
        let changed = std::fs::read_to_string(&file).unwrap().replace("0.25", "0.35");
        std::fs::write(&file, changed).unwrap();
        assert!(FILE.read::<DefaultProtocol>(&file).is_err_and(|error| error.is_damage()));
    }
}
