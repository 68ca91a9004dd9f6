//! The published cells (data set × backbone × loss): their settings, to run them, and their figures, to compare with.
//!
//! Each data set is a file in `configs/paper` and a line in the list below.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::by_cell::read_all;
use super::{Found, found, source_layer};
use crate::{InputError, Result, did_you_mean};

/// One cell of the published tables. What was not published is not here.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The name of the data set.
    #[serde(skip)]
    pub data: String,
    /// The name of the backbone.
    #[serde(skip)]
    pub backbone: String,
    /// The name of the loss.
    #[serde(skip)]
    pub loss: String,
    /// The best learning rate.
    pub lr: Option<f64>,
    /// The best weight decay.
    pub weight_decay: Option<f64>,
    /// The best parameters of the loss.
    #[serde(default)]
    pub params: toml::Table,
    /// The figures on the test part, by metric: `Recall@20`, `NDCG@20`.
    pub published: BTreeMap<String, f64>,
}

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(include_str!(concat!("../../../../configs/paper/", $name, ".toml"))),*]
    };
}

static FILES: &[&str] = embedded![
    "amazon2014-health",
    "amazon2014-electronic",
    "amazon2014-movie",
    "gowalla",
    "amazon2014-electronic-popularity",
    "gowalla-popularity",
];

/// Every published cell, data set by data set; within one by the names of backbone and loss.
pub fn cells() -> &'static [Cell] {
    static CELLS: LazyLock<Vec<Cell>> = LazyLock::new(|| {
        read_all(FILES, |[data, backbone, loss], cell| Cell { data, backbone, loss, ..cell })
    });
    &CELLS
}

/// The settings of a published cell as a layer, by a name like `paper/amazon2014-health/mf/sl`: the data set with its
/// own split, backbone, loss, optimiser, and the published protocol (200 epochs, `eval.mask = "train"`,
/// `eval.average = "all"`).
///
/// `train.select` stays unset, so the epoch is chosen on the validation part. The `-popularity` sets have none, and no
/// published settings either: their cells give an error. Run with settings of your own they keep the last epoch; the
/// published reference picks the best on the test part itself, which `train.select = "test"` does, too.
///
/// ```
/// let layer = rivalry::config::preset_layer("paper/amazon2014-health/mf/sl").unwrap();
/// let config = rivalry::config::Config::from_layers(&[layer]).unwrap();
/// assert_eq!((config.optim.lr, config.loss["tau"].as_float()), (0.1, Some(0.25)));
/// ```
pub fn preset_layer(name: &str) -> Result<toml::Table> {
    if let Some(found) = found().iter().find(|found| found.name() == name) {
        return Ok(found.layer());
    }
    match cells().iter().find(|cell| cell.name() == name) {
        Some(cell) => cell.layer(),
        None => Err(unknown_preset(name).into()),
    }
}

impl Cell {
    /// The name its settings are asked for by.
    pub fn name(&self) -> String {
        format!("paper/{}/{}/{}", self.data, self.backbone, self.loss)
    }

    fn layer(&self) -> Result<toml::Table> {
        let (Some(lr), Some(weight_decay)) = (self.lr, self.weight_decay) else {
            return Err(self.unpublished().into());
        };
        Ok(protocol_layer([&self.data, &self.backbone, &self.loss], &self.params, lr, weight_decay))
    }

    fn unpublished(&self) -> InputError {
        let Self { data, backbone, loss, .. } = self;
        InputError::new(format!("the paper gives figures for '{}', but not its settings", self.name()))
            .field("preset")
            .help(format!(
                "choose them yourself: --data {data} --backbone {backbone} --loss {loss} --set optim.lr=… --set loss.…=…"
            ))
    }
}

/// The settings of one training (of these data, with this backbone and this loss) in the published protocol.
pub(super) fn protocol_layer(
    [data, backbone, loss]: [&str; 3],
    params: &toml::Table,
    lr: f64,
    weight_decay: f64,
) -> toml::Table {
    let mut section = params.clone();
    section.insert("type".to_owned(), loss.into());
    let mut layer = source_layer(data);
    layer.extend(table([
        ("backbone", table([("type", backbone.into())]).into()),
        ("loss", section.into()),
        ("optim", table([("lr", lr.into()), ("weight_decay", weight_decay.into())]).into()),
        ("train", table([("epochs", 200.into())]).into()),
        ("eval", table([("mask", "train".into()), ("average", "all".into())]).into()),
    ]));
    layer
}

/// There are too many names to list them all in an error, so it says how they are made.
fn unknown_preset(name: &str) -> InputError {
    let names: Vec<String> = cells().iter().map(Cell::name).chain(found().iter().map(Found::name)).collect();
    let form = "a preset is paper/DATA/BACKBONE/LOSS (published) or found/DATA/BACKBONE/LOSS (by our own search), for \
                example paper/amazon2014-health/mf/sl";
    let help = match did_you_mean(name, names.iter().map(String::as_str)) {
        Some(known) => format!("did you mean '{known}'? In general {form}"),
        None => form.to_owned(),
    };
    InputError::new(format!("unknown preset '{name}'")).field("preset").help(help)
}

fn table<const N: usize>(entries: [(&str, toml::Value); N]) -> toml::Table {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests;
