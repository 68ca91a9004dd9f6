//! Ranks with the model of every run, and keeps each user's values.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Method, MetricAt, Terms};
use crate::Result;
use rivalry::data::Dataset;
use rivalry::eval::{Average, Bucket, EvalOptions, Part, evaluate};

/// All methods measured on the same users.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// What is the same for all.
    pub terms: Terms,
    /// The methods, in the order given.
    pub methods: Vec<MeasuredMethod>,
}

/// A method with what each of its runs came to.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredMethod {
    /// Its name.
    pub name: String,
    /// Its runs.
    pub runs: Vec<MeasuredRun>,
}

/// What the model of one run came to on the test part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredRun {
    /// Its folder.
    pub path: PathBuf,
    /// Its seed.
    pub seed: u64,
    /// The mean of each metric.
    pub metrics: BTreeMap<String, f64>,
    /// The same of the most popular fifth of the items.
    pub head: BTreeMap<String, f64>,
    /// The same of the least popular fifth of the items.
    pub tail: BTreeMap<String, f64>,
    /// Coverage, popularity and Gini of the lists.
    pub lists: BTreeMap<String, f64>,
    /// For each metric one value a user, the users in the same order in every run: those with test items, and where the
    /// mean is over all users a zero for each of the others after them.
    pub per_user: BTreeMap<String, Vec<f64>>,
}

/// How far the measuring is.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The run that comes next.
    pub run: &'a Path,
    /// Runs done.
    pub done: usize,
    /// Runs in all.
    pub of: usize,
}

/// Measures every run of every method on the test part, by the protocol the runs have in common.
///
/// # Errors
/// If a model can't be read or is not of these data, or a metric can't be measured on them.
pub fn measure(
    methods: &[Method],
    dataset: &Dataset,
    metrics: &[MetricAt],
    progress: &mut dyn FnMut(Step<'_>),
) -> Result<Measured> {
    let of = methods.iter().map(|method| method.runs.len()).sum();
    let mut done = 0;
    let mut measured = Vec::new();
    for method in methods {
        let mut runs = Vec::new();
        for run in &method.runs {
            progress(Step { run: run.folder.path(), done, of });
            runs.push(measure_run(run, dataset, metrics)?);
            done += 1;
        }
        measured.push(MeasuredMethod { name: method.name.clone(), runs });
    }
    let first = &methods[0].runs[0];
    let terms = Terms {
        data: dataset.name.clone(),
        data_checksum: dataset.checksum.clone(),
        mask: first.config.eval.mask,
        average: first.config.eval.average,
        select: first.record.outcome.training.as_ref().map(|training| training.select),
    };
    Ok(Measured { terms, methods: measured })
}

fn measure_run(
    run: &crate::run::FinishedRun,
    dataset: &Dataset,
    metrics: &[MetricAt],
) -> Result<MeasuredRun> {
    let model = run.folder.model()?;
    dataset.check_same(&model.data_checksum)?;
    let scorer = model.scorer()?;
    let mut k: Vec<usize> = metrics.iter().map(|metric| metric.k).collect();
    k.sort_unstable();
    k.dedup();
    let options =
        EvalOptions { k, per_user: true, buckets: true, beyond_accuracy: true, ..run.config.eval.clone() };
    let found = evaluate(&*scorer, dataset, Part::Test, &options)?;
    let names: Vec<String> = metrics.iter().map(MetricAt::to_string).collect();
    let mut per_user = found.per_user.unwrap_or_default().values;
    per_user.retain(|name, _| names.contains(name));
    if run.config.eval.average == Average::All {
        // Users without test items have 0 in the means, and so they have here.
        per_user.values_mut().for_each(|values| values.resize(dataset.users.len(), 0.0));
    }
    let asked = |mut all: BTreeMap<String, f64>| {
        all.retain(|name, _| names.contains(name));
        all
    };
    let bucket = |bucket: Option<Bucket>| asked(bucket.map(|bucket| bucket.metrics).unwrap_or_default());
    Ok(MeasuredRun {
        path: run.folder.path().to_owned(),
        seed: run.config.seed,
        metrics: asked(found.metrics),
        head: bucket(found.head),
        tail: bucket(found.tail),
        lists: found.beyond.unwrap_or_default(),
        per_user,
    })
}
