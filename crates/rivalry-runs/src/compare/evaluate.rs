//! Evaluation of every run, with the values of each user.

use std::path::{Path, PathBuf};

use super::Method;
use crate::Result;
use crate::run::FinishedRun;
use crate::selection::Protocol;
use rivalry::data::Dataset;
use rivalry::eval::{Average, Bucket, EvalOptions, EvalPart, MetricAt, Metrics, evaluate};

/// All methods, evaluated on the same users.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluatedMethods {
    /// The protocol that all runs share.
    pub protocol: Protocol,
    /// The methods, in the order given.
    pub methods: Vec<EvaluatedMethod>,
}

/// A method with the metrics of its runs.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluatedMethod {
    /// Its name.
    pub name: String,
    /// Whether the seed makes no difference, as for a closed-form model.
    pub deterministic: bool,
    /// Its runs.
    pub runs: Vec<EvaluatedRun>,
}

/// The test metrics of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvaluatedRun {
    /// Its folder.
    pub path: PathBuf,
    /// Its seed.
    pub seed: u64,
    /// The mean of each metric.
    pub metrics: Metrics,
    /// The same for the most popular fifth of the items.
    pub head: Metrics,
    /// The same for the least popular fifth of the items.
    pub tail: Metrics,
    /// Coverage, popularity and Gini index of the recommendation lists.
    pub lists: Metrics,
    /// For each metric one value per user, in the same order in every run: users with test items first, then, if the
    /// mean is over all users, a zero for each of the others.
    pub per_user: Metrics<Vec<f64>>,
}

/// The progress of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct EvaluationProgress<'a> {
    /// The run that is evaluated next.
    pub run: &'a Path,
    /// The number of runs evaluated so far.
    pub done: usize,
    /// The number of runs.
    pub total: usize,
}

/// Evaluates every run of every method on the test set, by the protocol that the runs share.
///
/// # Errors
/// If a model can't be read or was trained on other data, or a metric can't be computed on them.
///
/// # Panics
/// If there are no methods, or a method has no runs.
pub fn evaluate_runs(
    methods: &[Method],
    dataset: &Dataset,
    metrics: &[MetricAt],
    progress: &mut dyn FnMut(EvaluationProgress<'_>),
) -> Result<EvaluatedMethods> {
    let total = methods.iter().map(|method| method.runs.len()).sum();
    let mut done = 0;
    let mut evaluated = Vec::new();
    for method in methods {
        let mut runs = Vec::new();
        for run in &method.runs {
            progress(EvaluationProgress { run: run.folder.path(), done, total });
            runs.push(evaluate_run(run, dataset, metrics)?);
            done += 1;
        }
        let deterministic = method.runs.iter().all(|run| !run.config.model.uses_seed());
        evaluated.push(EvaluatedMethod { name: method.name.clone(), deterministic, runs });
    }
    let runs = || methods.iter().flat_map(|method| &method.runs);
    let protocols = || runs().map(|run| Protocol::of(&run.config, &run.record));
    let mut protocol = protocols().next().expect("a method has at least one run");
    // A closed form has no epoch to select; the other runs do.
    protocol.select = protocols().find_map(|protocol| protocol.select);
    Ok(EvaluatedMethods { protocol, methods: evaluated })
}

fn evaluate_run(run: &FinishedRun, dataset: &Dataset, metrics: &[MetricAt]) -> Result<EvaluatedRun> {
    let model = run.folder.model()?;
    dataset.check_same(&model.data_checksum)?;
    let scorer = model.scorer()?;
    let mut k: Vec<usize> = metrics.iter().map(|metric| metric.k()).collect();
    k.sort_unstable();
    k.dedup();
    let options =
        EvalOptions { k, per_user: true, buckets: true, beyond_accuracy: true, ..run.config.eval.clone() };
    let found = evaluate(&*scorer, dataset, EvalPart::Test, &options)?;
    let mut per_user = found.per_user.unwrap_or_default().values;
    per_user.retain(|metric, _| metrics.contains(metric));
    if run.config.eval.average == Average::All {
        // Users without test items count as 0 in the means.
        per_user.values_mut().for_each(|values| values.resize(dataset.users.len(), 0.0));
    }
    let requested = |mut all: Metrics| {
        all.retain(|metric, _| metrics.contains(metric));
        all
    };
    let bucket = |bucket: Option<Bucket>| requested(bucket.map(|bucket| bucket.metrics).unwrap_or_default());
    Ok(EvaluatedRun {
        path: run.folder.path().to_owned(),
        seed: run.config.seed,
        metrics: requested(found.metrics),
        head: bucket(found.head),
        tail: bucket(found.tail),
        lists: found.beyond.unwrap_or_default(),
        per_user,
    })
}
