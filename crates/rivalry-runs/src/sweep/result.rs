//! The result of a sweep.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Edge, Origin, Trial, TrialGroup, TrialStatus};
use crate::Result;
use crate::json_file::JsonFile;
use crate::stats::MeanStd;
use rivalry::eval::MetricAt;
use rivalry::files::checksum::TextFormat;

/// The file of the selected trials.
pub(crate) const SELECTED: &str = "chosen.json";
const FILE: JsonFile = JsonFile {
    format: TextFormat { name: "rivalry-chosen", version: 2 },
    content: "the selected trials of a sweep",
    help: "run the sweep again to rewrite the file",
};

/// The result of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepResult {
    /// The status of every trial.
    pub trials: Vec<TrialStatus>,
    /// The selected trial of each group.
    #[serde(rename = "chosen")]
    pub selected: Vec<SelectedTrial>,
}

/// The trial of a group with the best validation value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelectedTrial {
    /// Data, model and loss.
    #[serde(flatten)]
    pub group: TrialGroup,
    /// The settings in which the trials of the sweep differ.
    pub settings: BTreeMap<String, toml::Value>,
    /// Where they come from.
    #[serde(default)]
    pub origin: Origin,
    /// The number of trials in the group.
    pub tried: usize,
    /// The validation value of the defaults, if the sweep searched; the best is at least that.
    #[serde(default)]
    pub default: Option<f64>,
    /// The settings at an end of the range that was searched: better ones may lie beyond.
    #[serde(default)]
    pub edges: Vec<Edge>,
    /// The same training with one seed after another, starting with that of the sweep.
    pub seeds: Vec<TrialStatus>,
}

impl SelectedTrial {
    pub(super) fn new(trial: &Trial, tried: usize, seeds: Vec<TrialStatus>) -> Self {
        Self {
            group: trial.group(),
            settings: trial.settings.iter().cloned().collect(),
            origin: trial.origin.clone(),
            tried,
            default: None,
            edges: Vec::new(),
            seeds,
        }
    }

    /// The validation value by which it was selected.
    pub fn valid(&self) -> Option<f64> {
        self.seeds.first()?.valid
    }

    /// A test metric over the seeds that have it.
    pub fn test(&self, metric: MetricAt) -> Option<MeanStd> {
        let values = self.seeds.iter().filter_map(|seed| seed.outcome.as_ref()?.test.get(&metric).copied());
        let values: Vec<f64> = values.collect();
        (!values.is_empty()).then(|| MeanStd::of(&values))
    }
}

/// The best first, data set by data set.
pub(super) fn sort_by_score(selected: &mut [SelectedTrial]) {
    let mut data: Vec<String> = Vec::new();
    for one in &*selected {
        if !data.contains(&one.group.data) {
            data.push(one.group.data.clone());
        }
    }
    let place = |one: &SelectedTrial| data.iter().position(|known| *known == one.group.data);
    let score = |one: &SelectedTrial| one.valid().unwrap_or(f64::NEG_INFINITY);
    selected.sort_by(|a, b| place(a).cmp(&place(b)).then(score(b).total_cmp(&score(a))));
}

/// Writes the selected trials of a sweep.
pub(super) fn write(folder: &Path, selected: &[SelectedTrial]) -> Result<()> {
    FILE.write(&folder.join(SELECTED), selected)
}

/// The run folders of the selected trials of a sweep, all seeds of one after those of another; `None` if the folder is
/// not that of a finished sweep.
///
/// # Errors
/// If the file can't be read or is damaged.
pub fn selected_runs(folder: &Path) -> Result<Option<Vec<PathBuf>>> {
    let Some(selected) = FILE.read::<Vec<SelectedTrial>>(&folder.join(SELECTED))? else { return Ok(None) };
    let seeds = selected.iter().flat_map(|selected| &selected.seeds);
    Ok(Some(seeds.map(|seed| folder.join(&seed.name)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_released_format_is_read() {
        let text = r#"[{ "data": "d", "backbone": "mf", "loss": "sl", "settings": {}, "tried": 2, "seeds": [
            { "name": "a", "settings": {}, "state": { "begun": 3 }, "valid": null, "outcome": null },
            { "name": "b", "settings": {}, "state": "waiting", "valid": null, "outcome": null }] }]"#;
        let selected: Vec<SelectedTrial> = serde_json::from_str(text).unwrap();
        assert_eq!((&selected[0].group.model[..], selected[0].group.loss.as_deref()), ("mf", Some("sl")));
        let again: Vec<SelectedTrial> =
            serde_json::from_str(&serde_json::to_string(&selected).unwrap()).unwrap();
        assert_eq!(again, selected);
    }
}
