//! Settings tuned by our own sweeps on the validation set: where none are published, or validation prefers others.
//!
//! Each data set is a file in `presets/tuned` and a line in the list below.

use std::sync::LazyLock;

use serde::Deserialize;

use super::by_cell::read_all;
use super::{CellKey, CellSettings, protocol_layer};

/// The settings that a sweep selected.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuned {
    /// Data set, model and loss.
    #[serde(skip)]
    pub key: CellKey,
    /// The learning rate.
    pub lr: f64,
    /// The weight decay.
    #[serde(default)]
    pub weight_decay: f64,
    /// The parameters of the loss.
    #[serde(default)]
    pub params: toml::Table,
    /// NDCG@20 on the validation set, by which they were selected.
    pub valid: f64,
    /// The command of the sweep.
    pub search: String,
}

static FILES: &[&str] = &[
    include_str!("../../presets/tuned/amazon2014-health.toml"),
    include_str!("../../presets/tuned/amazon2014-electronic.toml"),
    include_str!("../../presets/tuned/amazon2014-movie.toml"),
    include_str!("../../presets/tuned/gowalla.toml"),
];

/// All tuned settings, data set by data set.
pub fn tuned() -> &'static [Tuned] {
    static TUNED: LazyLock<Vec<Tuned>> = LazyLock::new(|| read(FILES));
    &TUNED
}

fn read(files: &[&str]) -> Vec<Tuned> {
    read_all(files, |key, tuned| Tuned { key, ..tuned })
}

impl Tuned {
    /// The name of the preset.
    pub fn name(&self) -> String {
        format!("tuned/{}", self.key)
    }

    pub(super) fn layer(&self) -> toml::Table {
        let Self { params, lr, weight_decay, .. } = self;
        protocol_layer(&self.key, &CellSettings { params, lr: *lr, weight_decay: *weight_decay })
    }
}

#[cfg(test)]
mod tests {
    use rivalry::config::Config;
    use rivalry::eval::Mask;

    use super::*;
    use crate::presets::paper_cells;

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
    fn tuned_settings_become_a_training_in_the_published_protocol() {
        let [tuned] = &read(&[SAMPLE])[..] else { panic!("one entry") };
        assert_eq!(tuned.name(), "tuned/amazon2014-health/mf/dsl");
        let config = Config::from_layers(&[tuned.layer()]).unwrap();
        let gradient = config.gradient.unwrap();
        assert_eq!((gradient.optim.lr(), gradient.loss.params().number("alpha")), (0.1, 3.0));
        assert_eq!((gradient.train.epochs, config.eval.mask), (200, Mask::Train));
    }

    /// The embedded files can all be read, and none repeats published settings.
    #[test]
    fn tuned_settings_can_be_run() {
        let [sample] = <[Tuned; 1]>::try_from(read(&[SAMPLE])).unwrap();
        for tuned in tuned().iter().chain([&sample]) {
            assert!(Config::from_layers(&[tuned.layer()]).is_ok(), "{}", tuned.name());
            assert!(tuned.search.starts_with("rivalry sweep "), "{}", tuned.search);
            let published = paper_cells().iter().find(|cell| cell.key == tuned.key);
            let repeated = published.is_some_and(|cell| {
                cell.lr == Some(tuned.lr)
                    && cell.params.iter().all(|(name, value)| tuned.params.get(name) == Some(value))
            });
            assert!(!repeated, "{}", tuned.name());
        }
    }
}
