//! The published cells: their settings, to run them, and their figures, to compare with.
//!
//! Each data set is a file in `presets/paper` and a line in the list below.

use std::sync::LazyLock;

use rivalry::eval::Metrics;
use rivalry::{InputError, Result};
use serde::Deserialize;

use super::by_cell::read_all;
use super::{CellKey, CellSettings, protocol_layer};

/// One cell of the published tables. What was not published is absent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperCell {
    /// Data set, model and loss.
    #[serde(skip)]
    pub key: CellKey,
    /// The best learning rate.
    pub lr: Option<f64>,
    /// The best weight decay.
    pub weight_decay: Option<f64>,
    /// The best parameters of the loss.
    #[serde(default)]
    pub params: toml::Table,
    /// The figures on the test set, by metric: `Recall@20`, `NDCG@20`.
    pub published: Metrics,
}

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(include_str!(concat!("../../presets/paper/", $name, ".toml"))),*]
    };
}

pub(super) static FILES: &[&str] = embedded![
    "amazon2014-health",
    "amazon2014-electronic",
    "amazon2014-movie",
    "gowalla",
    "amazon2014-electronic-popularity",
    "gowalla-popularity",
];

/// Every published cell, data set by data set; within one by the names of model and loss.
pub fn paper_cells() -> &'static [PaperCell] {
    static CELLS: LazyLock<Vec<PaperCell>> =
        LazyLock::new(|| read_all(FILES, |key, cell| PaperCell { key, ..cell }));
    &CELLS
}

impl PaperCell {
    /// The name of the preset.
    pub fn name(&self) -> String {
        format!("paper/{}", self.key)
    }

    pub(super) fn layer(&self) -> Result<toml::Table> {
        let (Some(lr), Some(weight_decay)) = (self.lr, self.weight_decay) else {
            return Err(self.unpublished().into());
        };
        Ok(protocol_layer(&self.key, &CellSettings { params: &self.params, lr, weight_decay }))
    }

    fn unpublished(&self) -> InputError {
        let CellKey { data, model, loss } = &self.key;
        InputError::new(format!("the paper gives figures for '{}', but not its settings", self.name()))
            .field("preset")
            .help(format!(
                "choose them yourself: --data {data} --model {model} --loss {loss} --set optim.lr=… --set loss.…=…"
            ))
    }
}
