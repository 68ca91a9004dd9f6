//! The best so far of each model.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::sweep::{Trial, TrialGroup};

/// The best trial of each model so far, by the validation set.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Leaders(Vec<Leader>);

/// The best trial of a model so far.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Leader {
    /// Data, model and loss.
    #[serde(flatten)]
    pub group: TrialGroup,
    /// The settings in which its trials differ.
    pub settings: BTreeMap<String, toml::Value>,
    /// The name of the trial.
    pub trial: String,
    /// Its best validation value.
    pub valid: f64,
    /// The epoch of that value, if it was reached while this process was looking.
    pub epoch: Option<usize>,
    /// How many trials of the model have a value.
    pub tried: usize,
    #[serde(skip)]
    seen: Vec<String>,
}

impl Leaders {
    /// Takes note of a trial's value. `true` if the table has changed.
    pub(super) fn note(&mut self, trial: &Trial, valid: Option<f64>, epoch: Option<usize>) -> bool {
        let Some(valid) = valid else { return false };
        let group = trial.group();
        let new = Leader {
            settings: trial.settings.iter().cloned().collect(),
            trial: trial.name.clone(),
            seen: vec![trial.name.clone()],
            group,
            valid,
            epoch,
            tried: 1,
        };
        let changed = match self.0.iter_mut().find(|known| known.group == new.group) {
            None => {
                self.0.push(new);
                true
            }
            Some(known) => {
                let mut seen = std::mem::take(&mut known.seen);
                if !seen.contains(&trial.name) {
                    seen.push(trial.name.clone());
                }
                let better = valid > known.valid;
                if better {
                    *known = new;
                }
                known.tried = seen.len();
                known.seen = seen;
                better
            }
        };
        self.0.sort_by(|a, b| b.valid.total_cmp(&a.valid));
        changed
    }

    /// The best first.
    pub fn iter(&self) -> impl Iterator<Item = &Leader> {
        self.0.iter()
    }
}
