//! After the search: the finalists as runs of their own, the winner's test, and its training on everything.

use std::path::{Path, PathBuf};

use rivalry::config::{Config, Select};
use rivalry::data::{Split, Validation};
use rivalry::eval::MetricAt;

use super::folder::{BEST, MODELS, TRAINING};
use super::record::{FinalRun, ModelResult, TestResult};
use super::search::{Finalist, Search};
use super::{AutoEvent, Stage};
use crate::compare::{Comparison, EvaluatedMethods, Method, compare_to_baseline, evaluate_runs};
use crate::run::{FinishedRun, RunFolder, model_file};
use crate::stats::{Bootstrap, mean_interval};
use crate::sweep::{SweepFolder, SweepOptions, Trial};
use crate::{Error, Result};

/// The finalists on the test set.
pub(super) struct Tested {
    pub models: Vec<ModelResult>,
    pub test: TestResult,
    pub comparison: Comparison,
    pub runs: Vec<FinishedRun>,
}

impl Search<'_> {
    /// Makes a run of each finalist, and tests them. Nothing is selected by it: the winner is the first.
    pub(super) fn test(&self, out: &Path, finalists: &[Finalist], metric: MetricAt) -> Result<Tested> {
        self.observer.auto(&AutoEvent::Stage(Stage::Testing));
        let (mut methods, mut models) = (Vec::new(), Vec::new());
        for finalist in finalists {
            let run = Path::new(MODELS).join(finalist.trial.config.method_name());
            let folder = RunFolder::open(&self.folder.path().join(&finalist.trial.name))?;
            let finished = folder.closed_at(&out.join(&run), &self.dataset)?;
            let name = finalist.trial.group().to_string();
            models.push(ModelResult {
                name: name.clone(),
                settings: finalist.trial.settings.iter().cloned().collect(),
                tried: finalist.tried,
                valid: finalist.status.valid.unwrap_or_default(),
                epoch: finalist.epoch,
                seconds: finalist.seconds,
                bytes: size(&model_file(&out.join(&run))),
                run,
            });
            methods.push(Method { name, runs: vec![finished] });
        }
        let evaluated = evaluate_runs(&methods, &self.dataset, &[metric], &mut |_| {})?;
        let bootstrap = Bootstrap::default();
        let test = test_result(&evaluated, metric, bootstrap);
        let comparison = compare_to_baseline(&evaluated, 0, &[metric], bootstrap);
        let runs = methods.into_iter().flat_map(|method| method.runs).collect();
        Ok(Tested { models, test, comparison, runs })
    }

    /// Trains the winner on everything; `None` if the user asked to stop.
    pub(super) fn train_winner(&self, out: &Path, winner: &Finalist) -> Result<Option<FinalRun>> {
        let config = on_everything(&winner.trial.config, winner.epoch);
        let best = out.join(BEST);
        let is_done = |folder: &RunFolder| -> Result<bool> {
            Ok(folder.config()? == config && folder.record()?.is_some() && folder.has_model())
        };
        if !RunFolder::open(&best).is_ok_and(|folder| is_done(&folder).unwrap_or(false)) {
            self.observer.auto(&AutoEvent::Stage(Stage::TrainingWinner { epochs: winner.epoch }));
            let training = out.join(TRAINING);
            let next = training.join(BEST);
            let other = |folder: &RunFolder| folder.config().map_or(true, |known| known != config);
            if RunFolder::open(&next).is_ok_and(|folder| other(&folder)) {
                remove(&next)?;
            }
            let trial = Trial { name: BEST.to_owned(), ..Trial::new(config.clone(), Vec::new()) };
            let folder = SweepFolder::open(&training, self.load.clone())?;
            let options = SweepOptions { jobs: 1, keep_models: true, ..self.options };
            if !folder.advance(std::slice::from_ref(&trial), None, &options, self.observer)? {
                return Ok(None);
            }
            // Whoever is killed between these two gives the same command again, and the second is done.
            remove(&best)?;
            std::fs::rename(&next, &best).map_err(|e| Error::io("rename", &next, e))?;
            remove(&training)?;
        }
        let run = FinishedRun::open(&best)?;
        let training = run.record.outcome.training.as_ref();
        Ok(Some(FinalRun {
            path: PathBuf::from(BEST),
            epochs: training.map(|training| training.epochs),
            seconds: run.record.outcome.seconds.train,
            pairs: run.record.data_size.map_or(0, |size| size.train),
            bytes: size(&model_file(&best)),
        }))
    }
}

/// The config of a training on all interactions, with the number of epochs that was found.
fn on_everything(config: &Config, epochs: Option<usize>) -> Config {
    let mut config = config.clone();
    config.data.prepare.split = Split::None {};
    config.data.prepare.validation = Validation::None {};
    if let (Some(gradient), Some(epochs)) = (&mut config.gradient, epochs) {
        gradient.train.epochs = epochs;
        gradient.train.patience = None;
        gradient.train.select = Some(Select::Last);
    }
    config
}

fn test_result(evaluated: &EvaluatedMethods, metric: MetricAt, bootstrap: Bootstrap) -> TestResult {
    let winner = &evaluated.methods[0].runs[0];
    let values = &winner.per_user[metric];
    TestResult {
        mean: winner.metrics[metric],
        interval: mean_interval(values, bootstrap),
        confidence: bootstrap.confidence,
        users: values.len(),
    }
}

fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |file| file.len())
}

fn remove(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io("replace", folder, e)),
        _ => Ok(()),
    }
}
