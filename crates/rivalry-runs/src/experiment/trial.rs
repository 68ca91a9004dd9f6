//! One training among many.

use rivalry::config::Config;
use rivalry::data::digest;

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
        let digest = digest::of_bytes(config.to_toml().as_bytes());
        Self {
            name: format!("{}-{}", config.loss_name().unwrap_or(config.model.name()), &digest[..12]),
            config,
            settings,
        }
    }

    /// The same training from another seed.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        let mut config = self.config.clone();
        config.seed = seed;
        Self::new(config, self.settings.clone())
    }

    /// Of all trials those that compete are the ones with the same data, backbone and loss.
    pub fn contest(&self) -> [&str; 3] {
        [&self.config.data.source, self.config.model.name(), self.config.loss_name().unwrap_or_default()]
    }
}
