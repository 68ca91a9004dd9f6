//! From runs to methods: runs that differ in nothing but their seed are the same method.

use super::name::{Settings, flatten, names};
use super::same_terms;
use crate::run::FinishedRun;
use crate::{InputError, Result};

/// What is compared: a way of training, with one run for each seed it was tried with.
#[derive(Clone, Debug)]
pub struct Method {
    /// Backbone and loss, and the settings in which it differs from the others: `mf sl loss.tau=0.2`.
    pub name: String,
    /// Its runs, each with another seed, in the order given.
    pub runs: Vec<FinishedRun>,
}

impl Method {
    /// The seeds of its runs.
    pub fn seeds(&self) -> Vec<u64> {
        self.runs.iter().map(|run| run.config.seed).collect()
    }
}

/// Sorts runs into methods, in the order of each method's first run.
///
/// # Errors
/// If there are no runs, one was trained or judged on other terms than the first, or one is there twice.
pub fn group(runs: Vec<FinishedRun>) -> Result<Vec<Method>> {
    let Some(first) = runs.first() else {
        return Err(InputError::new("no runs to compare").help("give the folders of two or more").into());
    };
    runs.iter().try_for_each(|run| same_terms::check(first, run))?;
    let mut grouped: Vec<(Settings, Vec<FinishedRun>)> = Vec::new();
    for run in runs {
        let settings = settings(&run);
        match grouped.iter_mut().find(|(known, _)| *known == settings) {
            Some((_, runs)) => {
                check_new(runs, &run)?;
                runs.push(run);
            }
            None => grouped.push((settings, vec![run])),
        }
    }
    let (settings, runs): (Vec<Settings>, Vec<Vec<FinishedRun>>) = grouped.into_iter().unzip();
    Ok(names(&settings).into_iter().zip(runs).map(|(name, runs)| Method { name, runs }).collect())
}

/// All that makes a method: the config without its seed, and without what is the same for all that can be compared.
fn settings(run: &FinishedRun) -> Settings {
    let mut settings = flatten("", &run.config);
    settings.retain(|key, _| {
        let judged = key.starts_with("data.") || key.starts_with("eval.");
        !judged && !["train.seed", "train.select"].contains(&&key[..])
    });
    settings
}

/// The same seed gives the same model: counted twice it would feign a certainty that isn't there.
fn check_new(runs: &[FinishedRun], run: &FinishedRun) -> Result<()> {
    let seed = run.config.seed;
    let Some(twin) = runs.iter().find(|known| known.config.seed == seed) else { return Ok(()) };
    let twin = twin.folder.path().display();
    Err(InputError::new(format!("has the same settings and the same seed ({seed}) as {twin}"))
        .file(run.folder.path())
        .help("leave one of them out, or train it with another --seed")
        .into())
}
