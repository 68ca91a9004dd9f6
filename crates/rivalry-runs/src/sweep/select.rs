//! Selection of trials, by the validation set alone.

use std::collections::BTreeMap;

use super::{SweepFolder, Trial, TrialGroup, TrialState, TrialStatus};
use crate::selection::{SeedValue, best_setting, by_setting};
use crate::{InputError, Result};

/// The best finished trial of each group, in the order of the groups' first trials.
pub(super) fn best_of_each_group<'a>(trials: &'a [Trial], statuses: &[TrialStatus]) -> Vec<&'a Trial> {
    let mut groups: Vec<(TrialGroup, Vec<(&Trial, &TrialStatus)>)> = Vec::new();
    let finished = trials.iter().zip(statuses).filter(|(_, status)| status.state == TrialState::Finished);
    for (trial, status) in finished {
        let group = trial.group();
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, members)) => members.push((trial, status)),
            None => groups.push((group, vec![(trial, status)])),
        }
    }
    let best = |members: Vec<(&'a Trial, &TrialStatus)>| {
        let settings = by_setting(members, |(trial, _)| &trial.config);
        let value = |(trial, status): &(&Trial, &TrialStatus)| SeedValue {
            seed: trial.config.seed,
            valid: status.valid,
        };
        let values: Vec<Vec<SeedValue>> =
            settings.iter().map(|(_, runs)| runs.iter().map(value).collect()).collect();
        best_setting(&values).map(|best| settings[best].1[0].0)
    };
    groups.into_iter().filter_map(|(_, members)| best(members)).collect()
}

/// Refuses a sweep with several trials in a group and no validation set to select by.
pub(super) fn check_validation(folder: &SweepFolder, trials: &[Trial]) -> Result<()> {
    let mut sizes: BTreeMap<TrialGroup, usize> = BTreeMap::new();
    for trial in trials {
        *sizes.entry(trial.group()).or_default() += 1;
    }
    for trial in trials.iter().filter(|trial| sizes[&trial.group()] > 1) {
        let dataset = folder.dataset(&trial.config)?;
        if dataset.valid.is_empty() {
            let what = format!("'{}' has no validation set to select settings by", dataset.name);
            return Err(InputError::new(what)
                .field("data.prepare.validation")
                .help("split one off (--validation random), or try one setting per loss")
                .into());
        }
    }
    Ok(())
}

/// Refuses seeds beyond the largest that a config can hold.
pub(super) fn check_seeds(trials: &[Trial], seeds: usize) -> Result<()> {
    let last = |trial: &Trial| trial.config.seed.checked_add(seeds.saturating_sub(1) as u64);
    match trials.iter().all(|trial| last(trial).is_some_and(|last| last <= i64::MAX as u64)) {
        true => Ok(()),
        false => Err(InputError::new("the last seed is out of range")
            .field("train.seed")
            .help("start with a smaller seed, or use fewer seeds")
            .into()),
    }
}
