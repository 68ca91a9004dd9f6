//! What there is: losses, backbones, data sets, and the settings they make up.

use pyo3::prelude::*;
use rivalry::config::{Config, Entry, Params, Value};
use rivalry::data::catalogue;
use rivalry::loss::{LOSSES, NegativeFeatures, RowLoss};
use serde_json::json;

use crate::errors::{raise, wrong};

/// Every loss as JSON, with its parameters and what it must be given with the scores.
#[pyfunction]
pub fn losses() -> PyResult<String> {
    let describe = |entry: &'static rivalry::loss::Entry| -> PyResult<serde_json::Value> {
        let params = Params::check("loss", entry.params, &toml::Table::new()).map_err(raise)?;
        let loss = (entry.build)(&params);
        let features = match RowLoss::<f32>::negative_features(&*loss) {
            NegativeFeatures::None => None,
            NegativeFeatures::Similarities => Some("similarities"),
            NegativeFeatures::AdversaryScores => Some("rival scores"),
        };
        let mut description = described(entry);
        description["features"] = json!(features);
        let function = crate::loss::is_a_function(&*loss);
        description["function"] = json!(function);
        // A network has thousands of numbers that mean nothing to anybody.
        description["own"] = json!(loss.state().remove("values").filter(|_| function).unwrap_or_default());
        Ok(description)
    };
    Ok(json!(LOSSES.iter().map(describe).collect::<PyResult<Vec<_>>>()?).to_string())
}

/// Every backbone as JSON, with its parameters.
#[pyfunction]
pub fn backbones() -> String {
    json!(rivalry::backbone::BACKBONES.iter().map(described).collect::<Vec<_>>()).to_string()
}

/// Every named data set as JSON.
#[pyfunction]
pub fn datasets() -> String {
    json!(catalogue()).to_string()
}

/// The whole config that these settings make, as JSON; an error if they don't.
#[pyfunction]
pub fn config(settings: &str) -> PyResult<String> {
    serde_json::to_string(&parse(settings)?).map_err(|e| wrong(e.to_string()))
}

/// The config that settings in JSON ask for.
pub fn parse(settings: &str) -> PyResult<Config> {
    let layer: toml::Table = serde_json::from_str(settings).map_err(|e| wrong(format!("settings: {e}")))?;
    Config::from_layers(&[layer]).map_err(raise)
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
        json!({"name": param.name, "doc": param.doc, "default": default, "range": range, "grid": param.grid})
    });
    json!({"name": entry.name, "summary": entry.summary, "params": params.collect::<Vec<_>>()})
}
