//! The lists of models, losses, samplers, optimisers and data sets, and configs made of their settings.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use rivalry::config::Config;
use rivalry::data::catalogue;
use rivalry::data::read::COLUMN_NAMES;
use rivalry::loss::{LOSSES, LossConfig, NegativeFeatures};
use rivalry::models::{Kind, MODELS};
use rivalry::optim::OPTIMIZERS;
use rivalry::params::{Entry, Value};
use rivalry::sampler::SAMPLERS;
use serde_json::json;

use crate::errors::{invalid, raise};

/// Every loss as JSON, with its parameters and the inputs it needs besides scores.
#[pyfunction]
pub fn losses() -> String {
    let losses = LOSSES.iter().map(|entry| {
        let loss = LossConfig::named("loss", LOSSES, entry.name).build();
        let features = match loss.negative_features() {
            NegativeFeatures::None => None,
            NegativeFeatures::Similarities => Some("similarities"),
            NegativeFeatures::AdversaryScores => Some("adversary scores"),
        };
        let function = crate::loss::is_function(&*loss);
        let mut description = described(entry);
        description["features"] = json!(features);
        description["function"] = json!(function);
        // The initial values of learned parameters; the weights of a network are of no use to anyone.
        description["learned"] =
            json!(loss.state().remove("values").filter(|_| function).unwrap_or_default());
        description
    });
    json!(losses.collect::<Vec<_>>()).to_string()
}

/// Every model as JSON, with its parameters and whether it is trained by sampled gradients.
#[pyfunction]
pub fn models() -> String {
    let models = MODELS.iter().map(|entry| {
        let mut description = described(entry);
        description["gradient"] = json!(matches!(entry.build, Kind::Gradient(_)));
        description
    });
    json!(models.collect::<Vec<_>>()).to_string()
}

/// Every negative sampler as JSON, with its parameters.
#[pyfunction]
pub fn samplers() -> String {
    json!(SAMPLERS.iter().map(described).collect::<Vec<_>>()).to_string()
}

/// Every optimiser as JSON, with its parameters.
#[pyfunction]
pub fn optimizers() -> String {
    json!(OPTIMIZERS.iter().map(described).collect::<Vec<_>>()).to_string()
}

/// Every data set of the catalogue as JSON.
#[pyfunction]
pub fn datasets() -> String {
    json!(catalogue()).to_string()
}

/// The names by which each kind of column is recognised, most likely first.
#[pyfunction]
pub fn column_names() -> BTreeMap<&'static str, Vec<&'static str>> {
    COLUMN_NAMES.iter().map(|&(kind, names)| (kind, names.to_vec())).collect()
}

/// The complete config of these settings, as JSON.
#[pyfunction]
pub fn config(settings: &str) -> PyResult<String> {
    serde_json::to_string(&parse(settings, 0)?).map_err(|e| invalid(e.to_string()))
}

/// The config of settings in JSON, for a training set of so many pairs.
pub fn parse(settings: &str, pairs: usize) -> PyResult<Config> {
    let layer: toml::Table = serde_json::from_str(settings).map_err(|e| invalid(format!("settings: {e}")))?;
    Config::from_layers_for(&[layer], pairs).map_err(raise)
}

fn described<B>(entry: &Entry<B>) -> serde_json::Value {
    let params = entry.params.iter().map(|param| {
        let default = match param.default {
            Value::Number(x) => json!(x),
            Value::Count(n) => json!(n),
            Value::Flag(yes) => json!(yes),
            Value::Choice(name) => json!(name),
        };
        let range = param.range.to_string();
        json!({"name": param.name, "doc": param.doc, "default": default, "range": range, "grid": param.search.grid})
    });
    json!({"name": entry.name, "summary": entry.summary, "params": params.collect::<Vec<_>>()})
}
