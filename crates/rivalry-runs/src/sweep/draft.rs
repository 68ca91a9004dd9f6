//! Trials before they have a name.

use std::collections::{BTreeMap, BTreeSet};

use rivalry::config::Config;

use super::grid::Combination;
use super::{Origin, Trial, TrialGroup};
use crate::selection::setting_of;
use crate::settings::Settings;

/// A trial that does not know yet in what it differs from the others.
pub(super) struct Draft {
    pub config: Config,
    pub combination: Combination,
    pub origin: Origin,
}

/// The trials, each once. Their settings are those that the grids vary, and those in which the trials of the group
/// differ.
pub(super) fn named(drafts: Vec<Draft>, varied: &BTreeSet<String>) -> Vec<Trial> {
    let mut in_group: BTreeMap<TrialGroup, BTreeSet<String>> = BTreeMap::new();
    let mut first: BTreeMap<TrialGroup, Settings> = BTreeMap::new();
    for draft in &drafts {
        let (group, settings) = (TrialGroup::of(&draft.config), setting_of(&draft.config));
        let first = first.entry(group.clone()).or_insert_with(|| settings.clone());
        in_group.entry(group).or_default().extend(first.differences(&settings).cloned());
    }
    let (mut trials, mut names) = (Vec::new(), BTreeSet::new());
    for Draft { config, combination, origin } in drafts {
        let differing = &in_group[&TrialGroup::of(&config)];
        let given = combination.iter().map(|(key, _)| key).filter(|key| varied.contains(*key));
        let keys: BTreeSet<&String> = given.chain(differing).collect();
        let all = Settings::of(&config);
        let settings = keys.into_iter().filter_map(|key| Some((key.clone(), all.get(key)?.clone())));
        let settings = settings.collect();
        let trial = Trial { origin, ..Trial::new(config, settings) };
        if names.insert(trial.name.clone()) {
            trials.push(trial);
        }
    }
    trials
}
