//! What a search found.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Standing, Trial};
use crate::stats::Summary;
use crate::{Error, InputError, Result};
use rivalry::files::write_atomically;

/// What a search chose.
const CHOSEN: &str = "chosen.json";

/// What a search found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// How all trials stand.
    pub trials: Vec<Standing>,
    /// Of each contest the settings that were chosen.
    pub chosen: Vec<Chosen>,
}

/// The settings that did best on the validation part among those with the same data, backbone and loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// The data's name or path.
    pub data: String,
    /// The backbone.
    pub backbone: String,
    /// The loss.
    pub loss: String,
    /// The settings by which the trials differ.
    pub settings: BTreeMap<String, toml::Value>,
    /// How many settings were tried.
    pub tried: usize,
    /// The same training from one seed after another, the search's own first.
    pub seeds: Vec<Standing>,
}

impl Chosen {
    pub(super) fn new(trial: &Trial, tried: usize, seeds: Vec<Standing>) -> Self {
        let [data, backbone, loss] = trial.contest().map(str::to_owned);
        Self { data, backbone, loss, settings: trial.settings.iter().cloned().collect(), tried, seeds }
    }

    /// A test metric over the seeds that have it.
    pub fn test(&self, metric: &str) -> Option<Summary> {
        let values = self.seeds.iter().filter_map(|seed| seed.outcome.as_ref()?.test.get(metric).copied());
        let values: Vec<f64> = values.collect();
        (!values.is_empty()).then(|| Summary::of(&values))
    }
}

/// Writes down what a search chose.
pub(super) fn write(lab: &Path, chosen: &[Chosen]) -> Result<()> {
    write_atomically(&lab.join(CHOSEN), |file| {
        serde_json::to_writer_pretty(&mut *file, chosen)?;
        file.write_all(b"\n")
    })
}

/// The run folders that the search in this folder chose, all seeds of one after those of another; none if the folder
/// is not that of a finished search.
pub fn chosen_runs(folder: &Path) -> Result<Option<Vec<PathBuf>>> {
    let path = folder.join(CHOSEN);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(e) => return Err(Error::io("read", &path, e)),
    };
    let chosen: Vec<Chosen> = serde_json::from_str(&text).map_err(|e| {
        InputError::new(format!("not what a search chose: {e}"))
            .file(&path)
            .help("run the sweep again: it writes the file anew")
    })?;
    let seeds = chosen.iter().flat_map(|chosen| &chosen.seeds);
    Ok(Some(seeds.map(|seed| folder.join(&seed.name)).collect()))
}
