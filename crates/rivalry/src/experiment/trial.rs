//! One training among many.

use crate::config::Config;
use crate::data::digest;

/// A training to be done, and what it is called.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its folder below that of the experiment; may have several parts, such as `mf/sl/seed-0`.
    pub name: String,
    /// What to train.
    pub config: Config,
    /// The settings by which it differs from the others, such as `loss.tau`.
    pub settings: Vec<(String, toml::Value)>,
}

impl Trial {
    /// A trial named by its loss and by a digest of its whole config: the same config always has the same name, so that
    /// an experiment that is asked for again, or for more, finds what it has done.
    pub fn new(config: Config, settings: Vec<(String, toml::Value)>) -> Self {
        let loss = config.loss.get("type").and_then(|name| name.as_str()).unwrap_or_default();
        let digest = digest::of_bytes(config.to_toml().as_bytes());
        Self { name: format!("{loss}-{}", &digest[..12]), config, settings }
    }

    /// The same training from another seed.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        let mut config = self.config.clone();
        config.train.seed = seed;
        Self::new(config, self.settings.clone())
    }

    /// Of all trials those that compete are the ones with the same data, backbone and loss.
    pub fn contest(&self) -> [&str; 3] {
        fn name(section: &toml::Table) -> &str {
            section.get("type").and_then(|name| name.as_str()).unwrap_or_default()
        }
        [&self.config.data.source, name(&self.config.backbone), name(&self.config.loss)]
    }
}
