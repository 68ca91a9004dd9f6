//! Flags of early stopping and of the metric that selects the epoch, shared by `rivalry train` and `rivalry sweep`.

use clap::Args;

use super::data::Layer;

/// Early stopping, and the metric that selects the epoch and, in a sweep, the trial.
#[derive(Debug, Args)]
pub struct SelectionArgs {
    /// Stop a training after N evaluations without improvement; 'none' runs all epochs [default: 10]
    #[arg(long, value_name = "N|none", value_parser = patience, help_heading = "Training")]
    patience: Option<Patience>,
    /// Metric that selects the epoch and the best trial, such as Recall@20; by default NDCG@20
    #[arg(long, value_name = "METRIC", help_heading = "Training")]
    select_by: Option<String>,
    /// Cut-offs K of the metrics, such as 5,20 [default: 20]
    #[arg(short, long, value_delimiter = ',', value_name = "K,…", help_heading = "Training")]
    k: Vec<u32>,
}

impl SelectionArgs {
    /// Adds the flags to a config layer.
    pub fn put_into(&self, layer: &mut Layer) {
        layer.put("train.patience", self.patience);
        layer.put("eval.select_by", self.select_by.clone());
        layer.put("eval.k", (!self.k.is_empty()).then(|| self.k.clone()));
    }
}

/// A number of evaluations, or 'none'.
#[derive(Clone, Copy, Debug)]
struct Patience(Option<u32>);

impl From<Patience> for toml::Value {
    fn from(Patience(evaluations): Patience) -> Self {
        evaluations.map_or("none".into(), Self::from)
    }
}

/// Reads a patience.
fn patience(text: &str) -> Result<Patience, String> {
    match text.parse() {
        _ if text == "none" => Ok(Patience(None)),
        Ok(evaluations) if evaluations > 0 => Ok(Patience(Some(evaluations))),
        _ => Err("expected a whole number ≥ 1, or 'none' to run all epochs".to_owned()),
    }
}
