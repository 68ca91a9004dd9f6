//! One training of a sweep.

use rivalry::config::Config;
use rivalry::data::digest;
use serde::{Deserialize, Serialize};

/// A training to be run, and its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its folder within the sweep's; may have several components, such as `mf/sl/seed-0`.
    pub name: String,
    /// The config of the training.
    pub config: Config,
    /// The settings in which the trials of the sweep differ, such as `loss.tau`.
    pub settings: Vec<(String, toml::Value)>,
    /// Where its settings come from.
    pub origin: Origin,
}

/// Where the settings of a trial come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The search space.
    #[default]
    Searched,
    /// The defaults of the loss, so that no sweep ends below them.
    Default,
    /// The hyperparameters of the preset of this name.
    Preset(String),
}

/// The trials that compete with each other: those with the same data, model and loss.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TrialGroup {
    /// The name or path of the data.
    pub data: String,
    /// The model.
    #[serde(alias = "backbone")]
    pub model: String,
    /// The loss; `None` for a closed-form model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<String>,
}

impl TrialGroup {
    /// The group of a config.
    pub(super) fn of(config: &Config) -> Self {
        Self {
            data: config.data.source.clone(),
            model: config.model.name().to_owned(),
            loss: config.loss_name().map(str::to_owned),
        }
    }
}

/// `mf sl`, or `popularity` for a closed-form model.
impl std::fmt::Display for TrialGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.model)?;
        self.loss.iter().try_for_each(|loss| write!(f, " {loss}"))
    }
}

impl Trial {
    /// A trial named by its loss, or its model if it has none, and a digest of its config. The same config always has the
    /// same name, so that a repeated or extended sweep finds its finished trials.
    pub fn new(config: Config, settings: Vec<(String, toml::Value)>) -> Self {
        let digest = digest::of_bytes(config.to_toml().as_bytes());
        Self {
            name: format!("{}-{}", config.loss_name().unwrap_or(config.model.name()), &digest[..12]),
            config,
            settings,
            origin: Origin::Searched,
        }
    }

    /// Whether the trial is a baseline of the sweep: defaults and presets are never dropped by successive halving.
    pub fn is_baseline(&self) -> bool {
        self.origin != Origin::Searched
    }

    /// The same training with another seed.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        let mut config = self.config.clone();
        config.seed = seed;
        Self { origin: self.origin.clone(), ..Self::new(config, self.settings.clone()) }
    }

    /// The group the trial competes in.
    pub fn group(&self) -> TrialGroup {
        TrialGroup::of(&self.config)
    }
}
