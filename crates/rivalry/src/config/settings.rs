//! The settings of a run.

use serde::{Deserialize, Serialize};

use crate::data::DataConfig;
use crate::eval::EvalOptions;
use crate::train::{AdamConfig, Score};
use crate::{InputError, Result};

/// Everything that decides the outcome of a run. What isn't here (threads, progress bars, folders) can't change it.
///
/// ```
/// use rivalry::config::Config;
/// let config = Config::from_layers(&["loss = { type = 'sl', tau = 0.1 }".parse().unwrap()]).unwrap();
/// assert_eq!(config.loss["tau"].as_float(), Some(0.1));
/// assert_eq!(config.train.batch_size, 1024);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What to learn from.
    pub data: DataConfig,
    /// What is learned.
    pub model: ModelConfig,
    /// How the learned tables become the scored ones: `type` and its parameters.
    pub backbone: toml::Table,
    /// What is minimised: `type` and its parameters.
    pub loss: toml::Table,
    /// Which negatives a pair is compared with: `type` and its parameters.
    pub sampler: toml::Table,
    /// How parameters move.
    pub optim: AdamConfig,
    /// The loop.
    pub train: TrainConfig,
    /// How the result is judged.
    pub eval: EvalOptions,
}

/// The model's size and score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// Numbers in an embedding.
    pub dim: usize,
    /// How a user and an item make a score.
    pub score: Score,
}

/// The training loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainConfig {
    /// Times through the training pairs.
    pub epochs: usize,
    /// Training pairs in a step.
    pub batch_size: usize,
    /// Negatives for each training pair; without it as many as the loss is used with (1000 for the softmax family).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub negatives: Option<usize>,
    /// Decides initial values, order and negatives.
    pub seed: u64,
    /// Epochs between evaluations.
    pub eval_every: usize,
    /// Stop after this many evaluations without a better one; without it all epochs are run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<usize>,
    /// Which epoch is kept. Without it: the best on validation, or the last where there is no validation part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub select: Option<Select>,
}

/// Which epoch is kept and tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Select {
    /// The best on the validation part.
    Valid,
    /// The last.
    Last,
    /// The best on the test part itself. This looks at the answers; it exists because published figures do it.
    Test,
}

impl Default for Config {
    fn default() -> Self {
        let named = |name: &str| toml::Table::from_iter([("type".to_owned(), name.into())]);
        Self {
            data: DataConfig::default(),
            model: ModelConfig::default(),
            backbone: named("mf"),
            loss: named("dsl"),
            sampler: named("uniform"),
            optim: AdamConfig::default(),
            train: TrainConfig::default(),
            eval: EvalOptions::default(),
        }
    }
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self { dim: 64, score: Score::Cosine }
    }
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            epochs: 200,
            batch_size: 1024,
            negatives: None,
            seed: 0,
            eval_every: 5,
            patience: None,
            select: None,
        }
    }
}

impl TrainConfig {
    /// Negatives for each training pair.
    pub fn negatives(&self) -> usize {
        self.negatives.unwrap_or(1000)
    }
}

/// Beyond these a typo is likelier than a wish, and memory would run out before anything is learned.
const MOST_DIMENSIONS: usize = 1 << 14;
const MOST_NEGATIVES: usize = 1 << 28;

impl Config {
    /// Checks what no type can: ranges. Names and parameters of losses and the like are checked where they are built.
    pub(super) fn check(&self) -> Result<()> {
        let TrainConfig { epochs, batch_size, eval_every, patience, .. } = self.train;
        let negatives = self.train.negatives();
        let counts = [
            ("model.dim", self.model.dim),
            ("train.epochs", epochs),
            ("train.batch_size", batch_size),
            ("train.negatives", negatives),
            ("train.eval_every", eval_every),
            ("train.patience", patience.unwrap_or(1)),
        ];
        for (key, count) in counts {
            let most = if key == "model.dim" { MOST_DIMENSIONS } else { 1 << 30 };
            if !(1..=most).contains(&count) {
                return Err(wrong(key, &format!("expected a whole number ≥ 1 and ≤ {most}"), count));
            }
        }
        if batch_size * negatives > MOST_NEGATIVES {
            let what =
                format!("{negatives} negatives for each of {batch_size} pairs are too many for one step");
            let error = InputError::new(what).field("train.negatives");
            return Err(error.help("lower train.negatives or train.batch_size").into());
        }
        let AdamConfig { lr, weight_decay, beta1, beta2, epsilon, lazy: _ } = self.optim;
        let numbers = [
            ("optim.lr", lr, lr > 0.0, "expected a number > 0"),
            ("optim.weight_decay", weight_decay, weight_decay >= 0.0, "expected a number ≥ 0"),
            ("optim.beta1", beta1, (0.0..1.0).contains(&beta1), "expected a number in [0, 1)"),
            ("optim.beta2", beta2, (0.0..1.0).contains(&beta2), "expected a number in [0, 1)"),
            ("optim.epsilon", epsilon, epsilon > 0.0, "expected a number > 0"),
        ];
        for (key, number, legal, expected) in numbers {
            if !legal || !number.is_finite() {
                return Err(wrong(key, expected, number));
            }
        }
        Ok(())
    }
}

fn wrong(key: &str, expected: &str, found: impl std::fmt::Display) -> crate::Error {
    InputError::new(format!("{expected}, found {found}")).field(key).into()
}
