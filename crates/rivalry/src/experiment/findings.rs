//! What a search found.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Standing, State, Trial};

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

    /// Mean and sample standard deviation of a test metric over the seeds that have it.
    pub fn test(&self, metric: &str) -> Option<(f64, f64)> {
        let values = self.seeds.iter().filter_map(|seed| seed.outcome.as_ref()?.test.get(metric).copied());
        let values: Vec<f64> = values.collect();
        let n = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
        Some((mean, if n > 1.0 { (squares / (n - 1.0)).sqrt() } else { 0.0 }))
    }
}

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
