//! What `train` and `quickstart` share: making a run's folder, training into it, and telling about it.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use rivalry::config::{Config, GradientConfig};
use rivalry::data::{Dataset, thousands};
use rivalry::eval::{Average, Mask};
use rivalry::train::{Fitted, TrainingState, fit};
use rivalry::{Error, Result};
use rivalry_runs::run::{RunFolder, RunRecord};
use serde::Serialize;

use crate::output::say;
use crate::progress::Watcher;
use crate::signals::Interrupted;

/// The figures of a run and where it is, as `--json` has them.
#[derive(Serialize)]
pub struct Trained<'a> {
    #[serde(flatten)]
    pub record: &'a RunRecord,
    pub run: &'a Path,
}

/// Makes the first folder of `STEM-1`, `STEM-2`, … that is not there yet. Making one is a single step for the system, so
/// two commands never get the same.
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

/// Trains into a run's folder, from the start or from where it stopped.
pub fn train(
    folder: &RunFolder,
    dataset: &Dataset,
    config: &Config,
    from: Option<TrainingState>,
    quiet: bool,
) -> anyhow::Result<RunRecord> {
    let mut watcher = Watcher::new(quiet, config.eval.selection_metric());
    let fitted = fit(dataset, config, from, &mut folder.checkpointer(dataset, config), &mut watcher);
    drop(watcher);
    match fitted {
        Ok(Fitted::Done(fit)) => Ok(folder.finish(fit.outcome, dataset)?),
        Ok(Fitted::Stopped(state)) => {
            let epochs = config.gradient.as_ref().map(|gradient| gradient.train.epochs);
            let progress = state.zip(epochs).map(|(state, epochs)| (state.progress.epoch, epochs));
            Err(Interrupted { run: folder.path().to_owned(), progress }.into())
        }
        Err(error @ (Error::NonFinite { .. } | Error::NanScore { .. })) => {
            let kept = match folder.has_checkpoint() {
                true => format!("the last good checkpoint is kept in {}", folder.path().display()),
                false => "there was no checkpoint yet".to_owned(),
            };
            Err(anyhow!(
                "{error}\n  {kept}\n  help: try a smaller learning rate (--lr) or a larger temperature (--set loss.tau=…)"
            ))
        }
        Err(error) => Err(error.into()),
    }
}

/// Says what the model will learn from.
pub fn introduce_data(dataset: &Dataset) {
    let [users, items] = [dataset.users.len(), dataset.items.len()].map(thousands);
    let [train, valid, test] =
        [&dataset.train, &dataset.valid, &dataset.test].map(|part| thousands(part.len()));
    say(format_args!(
        "data    {}: {users} users, {items} items; {train} training, {valid} validation, {test} test pairs",
        dataset.name
    ));
    for note in &dataset.notes {
        say(format_args!("note    {note}"));
    }
}

/// Says what is trained, and how.
pub fn introduce_model(config: &Config) {
    say(format_args!("model   {}", config.model));
    if let Some(GradientConfig { loss, sampler, optim, train }) = &config.gradient {
        say(format_args!("loss    {loss}"));
        say(format_args!(
            "train   {} {} negatives, {} with lr {}",
            train.negatives,
            sampler.name(),
            optim.name(),
            optim.lr()
        ));
    }
    let eval = &config.eval;
    if (eval.mask, eval.average) != (Mask::default(), Average::default()) {
        let text = |value: toml::Value| value.as_str().unwrap_or_default().to_owned();
        let [mask, average] = [toml::Value::try_from(eval.mask), toml::Value::try_from(eval.average)]
            .map(|value| value.map(text).unwrap_or_default());
        say(format_args!("test    with mask = {mask}, average = {average}: not the defaults"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_numbered_by_the_first_number_that_is_free() {
        let world = tempfile::tempdir().unwrap();
        let stem = world.path().join("runs/quickstart");
        let numbered = |n: u32| world.path().join(format!("runs/quickstart-{n}"));
        assert_eq!(numbered_folder(&stem).unwrap(), numbered(1));
        std::fs::create_dir(numbered(3)).unwrap();
        assert_eq!(numbered_folder(&stem).unwrap(), numbered(2));
        assert_eq!(numbered_folder(&stem).unwrap(), numbered(4));
    }
}
