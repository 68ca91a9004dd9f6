//! Choosing among trials: by the validation part alone.

use std::collections::HashMap;

use super::{Lab, Standing, State, Trial};
use crate::{InputError, Result};

/// Of each contest the finished trial with the best validation value; of equal ones the earlier.
pub(super) fn best_of_each<'a>(trials: &'a [Trial], standings: &[Standing]) -> Vec<&'a Trial> {
    let mut best: Vec<(&Trial, Option<f64>)> = Vec::new();
    for (trial, standing) in trials.iter().zip(standings) {
        if standing.state != State::Finished {
            continue;
        }
        match best.iter_mut().find(|(rival, _)| rival.contest() == trial.contest()) {
            Some(place) if standing.valid > place.1 => *place = (trial, standing.valid),
            Some(_) => {}
            None => best.push((trial, standing.valid)),
        }
    }
    best.into_iter().map(|(trial, _)| trial).collect()
}

/// Refuses a choice with nothing to choose by: the test part is not for choosing.
pub(super) fn check_choice(lab: &Lab, trials: &[Trial]) -> Result<()> {
    let mut rivals: HashMap<[&str; 3], usize> = HashMap::new();
    for trial in trials {
        *rivals.entry(trial.contest()).or_default() += 1;
    }
    for trial in trials.iter().filter(|trial| rivals[&trial.contest()] > 1) {
        let dataset = lab.dataset(&trial.config)?;
        if dataset.valid.is_empty() {
            let what = format!("'{}' has no validation part, and nothing else may choose", dataset.name);
            return Err(InputError::new(what)
                .field("data.prepare.validation")
                .help("have one carved out (--validation random), or try one setting of each loss")
                .into());
        }
    }
    Ok(())
}

/// Refuses seeds that go beyond what a config can hold.
pub(super) fn check_seeds(trials: &[Trial], seeds: usize) -> Result<()> {
    let last = |trial: &Trial| trial.config.seed.checked_add(seeds.saturating_sub(1) as u64);
    match trials.iter().all(|trial| last(trial).is_some_and(|last| last <= i64::MAX as u64)) {
        true => Ok(()),
        false => Err(InputError::new("there are not so many seeds after this one")
            .field("train.seed")
            .help("begin with a smaller seed, or train from fewer")
            .into()),
    }
}
