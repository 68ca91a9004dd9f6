//! Shared by `train`, `rerun` and `quickstart`: creates numbered folders, trains, and prints what is trained.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::anyhow;
use rivalry::config::{Config, GradientConfig, Select};
use rivalry::data::{Dataset, count, thousands};
use rivalry::eval::{Average, EvalOptions, EvalPart, Mask, artefacts};
use rivalry::train::{Checkpointer, Fit, Fitted, NoCheckpoints, TrainingState, shared_trainer, trainer};
use rivalry::{Error, Result};
use rivalry_runs::run::{RunFolder, RunRecord};
use serde::Serialize;

use crate::args::Common;
use crate::output::say;
use crate::processes::{Processes, RankObserver};
use crate::progress::ProgressObserver;
use crate::signals::{EpochProgress, Interrupted};

/// The `--json` output of a training: the run's record and folder.
#[derive(Serialize)]
pub struct Trained<'a> {
    #[serde(flatten)]
    pub record: &'a RunRecord,
    pub run: &'a Path,
}

/// A name without characters that are special to shells or file systems.
pub fn plain_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "._-@+".contains(c) { c } else { '-' };
    name.chars().map(plain).collect()
}

/// Creates the first folder of `STEM-1`, `STEM-2`, … that doesn't exist. Creation is atomic, so two processes never get
/// the same folder.
pub fn numbered_folder(stem: &Path) -> Result<PathBuf> {
    if let Some(parent) = stem.parent() {
        std::fs::create_dir_all(parent).map_err(|e| Error::io("create", parent, e))?;
    }
    let mut number = 1;
    loop {
        let path = PathBuf::from(format!("{}-{number}", stem.display()));
        match std::fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(e) => return Err(Error::io("create", path, e)),
        }
    }
}

/// Trains into a run folder, from the beginning or from a checkpoint.
pub fn train(
    folder: &RunFolder,
    dataset: &Dataset,
    config: &Config,
    from: Option<TrainingState>,
    common: &Common,
) -> anyhow::Result<RunRecord> {
    let mut observer = ProgressObserver::new(common.quiet, config.eval.selection_metric());
    let trainer = trainer(config, common.machine.memory());
    let fitted = trainer.fit(dataset, from, &mut folder.checkpointer(dataset, config), &mut observer);
    drop(observer);
    let fit = finished(folder, config, fitted)?;
    let record = folder.finish(fit.outcome, dataset)?;
    warn_of_nothing_learned(&record);
    Ok(record)
}

/// Trains together with other processes. Rank 0 has the folder and the state, and returns the record.
pub fn train_together(
    folder: Option<&RunFolder>,
    (dataset, config): (&Dataset, &Config),
    from: Option<TrainingState>,
    common: &Common,
    processes: &Processes,
) -> anyhow::Result<Option<RunRecord>> {
    let quiet = common.quiet || folder.is_none();
    let began = Instant::now();
    let progress = ProgressObserver::new(quiet, config.eval.selection_metric());
    let mut observer = RankObserver::new(processes, progress, quiet);
    let trainer = shared_trainer(config, common.machine.memory(), processes.collective());
    let mut files = folder.map(|folder| folder.checkpointer(dataset, config));
    let mut nothing = NoCheckpoints;
    let checkpointer: &mut dyn Checkpointer = match &mut files {
        Some(files) => files,
        None => &mut nothing,
    };
    let fitted = trainer.fit(dataset, from, checkpointer, &mut observer);
    drop(observer);
    let Some(folder) = folder else {
        return match fitted? {
            Fitted::Stopped(_) => Err(Interrupted { run: PathBuf::new(), progress: None }.into()),
            Fitted::Done(_) => {
                processes.sharing(processes.spent(began.elapsed().as_secs_f64()));
                Ok(None)
            }
        };
    };
    let fit = finished(folder, config, fitted)?;
    let sharing = processes.sharing(processes.spent(began.elapsed().as_secs_f64()));
    let record = folder.finish_shared(fit.outcome, dataset, sharing)?;
    warn_of_nothing_learned(&record);
    Ok(Some(record))
}

/// The result of a training that ran to its end; otherwise what to tell the user.
fn finished(folder: &RunFolder, config: &Config, fitted: Result<Fitted>) -> anyhow::Result<Fit> {
    match fitted {
        Ok(Fitted::Done(fit)) => Ok(*fit),
        Ok(Fitted::Stopped(state)) => {
            let epochs = config.gradient.as_ref().map(|gradient| gradient.train.epochs);
            let progress =
                state.zip(epochs).map(|(state, total)| EpochProgress { done: state.progress.epoch, total });
            Err(Interrupted { run: folder.path().to_owned(), progress }.into())
        }
        Err(error @ (Error::NonFinite { .. } | Error::NanScore { .. })) if config.gradient.is_some() => {
            let kept = match folder.has_checkpoint() {
                true => format!("the last good checkpoint is kept in {}", folder.path().display()),
                false => "there is no checkpoint yet".to_owned(),
            };
            Err(anyhow!(
                "{error}\n  {kept}\n  help: try a smaller learning rate (--lr) or a larger temperature (--set loss.tau=…)"
            ))
        }
        Err(error) => Err(error.into()),
    }
}

/// Prints a warning if the model is no better than chance.
pub fn warn_of_nothing_learned(record: &RunRecord) {
    if let Some(reason) = &record.outcome.nothing_learned {
        say(format_args!("warning: nothing was learned: {reason}"));
    }
}

/// The note on a damaged file because of which a training restarts from the beginning.
pub fn damage_note(damage: &Error) -> String {
    format!("note    {damage}\n        restarting from the beginning; the result will be the same")
}

/// Prints the size of a data set.
pub fn print_data_summary(dataset: &Dataset) {
    let (users, items) = (count(dataset.users.len(), "user"), count(dataset.items.len(), "item"));
    let [train, valid, test] =
        [&dataset.train, &dataset.valid, &dataset.test].map(|part| thousands(part.len()));
    say(format_args!(
        "data    {}: {users}, {items}; {train} training, {valid} validation, {test} test pairs",
        dataset.name
    ));
    dataset.split.iter().for_each(|split| say(format_args!("split   {split}")));
    if dataset.test.is_empty() {
        say("note    there is no test set: the model is not tested");
    }
    for note in &dataset.notes {
        say(format_args!("note    {note}"));
    }
    for warning in &dataset.warnings {
        say(format_args!("warning {warning}"));
    }
}

/// Prints warnings of figures that will say more about the data than about the model.
pub fn warn_of_artefacts(dataset: &Dataset, part: EvalPart, options: &EvalOptions) {
    for text in artefacts(dataset, part, options) {
        say(format_args!("warning {text}"));
    }
}

/// Prints the model and how it is trained.
pub fn print_model_summary(config: &Config, dataset: &Dataset) {
    say(format_args!("model   {}", config.model));
    if let Some(GradientConfig { loss, sampler, optim, train }) = &config.gradient {
        say(format_args!("loss    {loss}"));
        say(format_args!(
            "train   {} {} negative{}, {} with lr {}",
            train.negatives,
            sampler.name(),
            if train.negatives == 1 { "" } else { "s" },
            optim.name(),
            toml::Value::from(optim.lr())
        ));
        let chosen = match train.select {
            None | Some(Select::Valid) => !dataset.valid.is_empty(),
            Some(Select::Last) => false,
            Some(Select::Test) => true,
        };
        if let (Some(patience), true) = (train.patience, chosen) {
            let epochs = count(train.epochs, "epoch");
            let every = match train.eval_every.min(train.epochs) {
                1 => "after each".to_owned(),
                every => format!("every {every}"),
            };
            let stop = count(patience, "evaluation");
            say(format_args!(
                "        at most {epochs}, evaluated {every}; stops after {stop} without improvement"
            ));
        }
    }
    let eval = &config.eval;
    if (eval.mask, eval.average) != (Mask::default(), Average::default()) {
        let text = |value: toml::Value| value.as_str().unwrap_or_default().to_owned();
        let [mask, average] = [toml::Value::try_from(eval.mask), toml::Value::try_from(eval.average)]
            .map(|value| value.map(text).unwrap_or_default());
        say(format_args!("eval    mask = {mask}, average = {average} (not the defaults)"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_get_the_first_free_number() {
        let parent = tempfile::tempdir().unwrap();
        let stem = parent.path().join("runs/quickstart");
        let numbered = |n: u32| parent.path().join(format!("runs/quickstart-{n}"));
        assert_eq!(numbered_folder(&stem).unwrap(), numbered(1));
        std::fs::create_dir(numbered(3)).unwrap();
        assert_eq!(numbered_folder(&stem).unwrap(), numbered(2));
        assert_eq!(numbered_folder(&stem).unwrap(), numbered(4));
    }
}
