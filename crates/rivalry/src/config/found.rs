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

static FILES: &[&str] = &[
    include_str!("../../../../configs/found/amazon2014-health.toml"),
    include_str!("../../../../configs/found/amazon2014-electronic.toml"),
];

/// All settings that were found, data set by data set.
pub fn found() -> &'static [Found] {
    static FOUND: LazyLock<Vec<Found>> = LazyLock::new(|| read(FILES));
    &FOUND
}

fn read(files: &[&str]) -> Vec<Found> {
    read_all(files, |[data, backbone, loss], found| Found { data, backbone, loss, ..found })
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
    use crate::config::{Config, cells};
    use crate::eval::Mask;

    /// As such a file looks.
    const SAMPLE: &str = "
        data = 'amazon2014-health'
        [mf.dsl]
        lr = 0.1
        params = { tau = 0.2, alpha = 3.0 }
        valid = 0.09
        search = 'rivalry sweep --data amazon2014-health --loss dsl'
    ";

    #[test]
    fn a_finding_becomes_a_training_in_the_published_protocol() {
        let [found] = &read(&[SAMPLE])[..] else { panic!("one finding") };
        assert_eq!(found.name(), "found/amazon2014-health/mf/dsl");
        let config = Config::from_layers(&[found.layer()]).unwrap();
        assert_eq!((config.optim.lr, config.loss["alpha"].as_float()), (0.1, Some(3.0)));
        assert_eq!((config.train.epochs, config.eval.mask), (200, Mask::Train));
    }

    /// The embedded files can all be read, and take the place of nothing published.
    #[test]
    fn what_was_found_can_be_run() {
        let [sample] = <[Found; 1]>::try_from(read(&[SAMPLE])).unwrap();
        for found in found().iter().chain([&sample]) {
            assert!(Config::from_layers(&[found.layer()]).is_ok(), "{}", found.name());
            assert!(found.search.starts_with("rivalry sweep "), "{}", found.search);
            let published = cells().iter().find(|cell| {
                (&cell.data, &cell.backbone, &cell.loss) == (&found.data, &found.backbone, &found.loss)
            });
            assert!(published.is_none_or(|cell| cell.lr.is_none()), "{}", found.name());
        }
    }
}
