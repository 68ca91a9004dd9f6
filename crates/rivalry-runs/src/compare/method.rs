//! Methods: runs with the same setting, one run per seed.

use super::name::names;
use crate::run::FinishedRun;
use crate::selection::{by_setting, check_comparable};
use crate::settings::Settings;
use crate::{InputError, Result};

/// A model with its hyperparameters, and one run for each seed it was trained with.
#[derive(Clone, Debug)]
pub struct Method {
    /// The model, the loss, and the settings in which the method differs from the others: `mf sl loss.tau=0.2`.
    pub name: String,
    /// The runs, each with a different seed, in the order given.
    pub runs: Vec<FinishedRun>,
}

impl Method {
    /// The seeds of the runs.
    pub fn seeds(&self) -> Vec<u64> {
        self.runs.iter().map(|run| run.config.seed).collect()
    }
}

/// Groups runs into methods, in the order of each method's first run.
///
/// # Errors
/// If there are no runs, two of them are not comparable, or two have the same setting and the same seed.
pub fn group_by_method(runs: Vec<FinishedRun>) -> Result<Vec<Method>> {
    if runs.is_empty() {
        return Err(InputError::new("no runs to compare").help("give the folders of two or more").into());
    }
    check_comparable(&runs)?;
    let grouped = by_setting(runs, |run| &run.config);
    grouped.iter().try_for_each(|(_, runs)| check_seeds(runs))?;
    let (settings, runs): (Vec<Settings>, Vec<Vec<FinishedRun>>) = grouped.into_iter().unzip();
    Ok(names(&settings).into_iter().zip(runs).map(|(name, runs)| Method { name, runs }).collect())
}

/// Refuses a seed that occurs twice: it gives the same model again, and would count as evidence that isn't there.
fn check_seeds(runs: &[FinishedRun]) -> Result<()> {
    for (at, run) in runs.iter().enumerate() {
        let seed = run.config.seed;
        let Some(twin) = runs[..at].iter().find(|known| known.config.seed == seed) else { continue };
        let twin = twin.folder.path().display();
        return Err(InputError::new(format!("has the same settings and the same seed ({seed}) as {twin}"))
            .file(run.folder.path())
            .help("leave one of them out, or train it with another --seed")
            .into());
    }
    Ok(())
}
