//! Settings that are not published, found by our own searches on the validation part.
//!
//! Each data set is a file in `configs/found` and a line in the list below.

use std::sync::LazyLock;

use serde::Deserialize;

use super::by_cell::read_all;
use super::preset::protocol_layer;

/// The settings one search chose.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// The name of the data set.
    #[serde(skip)]
    pub data: String,
    /// The name of the backbone.
    #[serde(skip)]
    pub backbone: String,
    /// The name of the loss.
    #[serde(skip)]
    pub loss: String,
    /// The learning rate.
    pub lr: f64,
    /// The weight decay.
    #[serde(default)]
    pub weight_decay: f64,
    /// The parameters of the loss.
    #[serde(default)]
    pub params: toml::Table,
    /// The value on the validation part that they were chosen by, NDCG@20.
    pub valid: f64,
    /// The command that searched.
    pub search: String,
}

static FILES: &[&str] = &[include_str!("../../../../configs/found/amazon2014-health.toml")];

/// All settings that were found, data set by data set.
pub fn found() -> &'static [Found] {
    static FOUND: LazyLock<Vec<Found>> = LazyLock::new(|| {
        read_all(FILES, |[data, backbone, loss], found| Found { data, backbone, loss, ..found })
    });
    &FOUND
}

impl Found {
    /// The name its settings are asked for by.
    pub fn name(&self) -> String {
        format!("found/{}/{}/{}", self.data, self.backbone, self.loss)
    }

    pub(super) fn layer(&self) -> toml::Table {
        protocol_layer([&self.data, &self.backbone, &self.loss], &self.params, self.lr, self.weight_decay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, cells, preset_layer};

    #[test]
    fn what_was_found_can_be_run_and_takes_the_place_of_nothing_published() {
        for found in found() {
            let config = Config::from_layers(&[preset_layer(&found.name()).unwrap()]).unwrap();
            assert_eq!(config.optim.lr, found.lr);
            assert!(found.search.starts_with("rivalry sweep "), "{}", found.search);
            let published = cells().iter().find(|cell| {
                (&cell.data, &cell.backbone, &cell.loss) == (&found.data, &found.backbone, &found.loss)
            });
            assert!(published.is_none_or(|cell| cell.lr.is_none()), "{}", found.name());
        }
    }
}
