//! The settings of a run.

use serde::{Deserialize, Serialize, Serializer};

use crate::data::{DataConfig, declared};
use crate::eval::EvalOptions;
use crate::loss::LossConfig;
use crate::models::ModelConfig;
use crate::optim::OptimConfig;
use crate::params::Range;
use crate::sampler::SamplerConfig;
use crate::{InputError, Result};

/// Everything that decides the result of a run. What isn't here (threads, progress bars, folders) can't change it.
///
/// ```
/// use rivalry::config::Config;
/// let config = Config::from_layers(&["loss = { type = 'sl', tau = 0.1 }".parse().unwrap()]).unwrap();
/// assert_eq!(config.model.name(), "mf");
/// let gradient = config.gradient.unwrap();
/// assert_eq!(gradient.loss.params().number("tau"), 0.1);
/// assert_eq!(gradient.train.batch_size, 1024);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The data: source, filters, split.
    pub data: DataConfig,
    /// The model and its parameters.
    pub model: ModelConfig,
    /// How the model is trained by sampled gradients; none for a closed-form model.
    pub gradient: Option<GradientConfig>,
    /// The seed of initial values, order and negatives: `train.seed`.
    pub seed: u64,
    /// The evaluation.
    pub eval: EvalOptions,
}

/// The settings of the sampled-gradient trainer: the sections `[loss]`, `[sampler]`, `[optim]` and `[train]`.
#[derive(Clone, Debug, PartialEq)]
pub struct GradientConfig {
    /// The loss.
    pub loss: LossConfig,
    /// The negative sampler.
    pub sampler: SamplerConfig,
    /// The optimiser.
    pub optim: OptimConfig,
    /// The training loop.
    pub train: TrainConfig,
}

/// The training loop.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainConfig {
    /// Passes over the training pairs.
    pub epochs: usize,
    /// Training pairs in a step.
    pub batch_size: usize,
    /// Negatives for each training pair.
    pub negatives: usize,
    /// Epochs between evaluations.
    pub eval_every: usize,
    /// Stop after this many evaluations without an improvement; `None`: run all epochs. The default does not apply where
    /// the last epoch is taken.
    pub patience: Option<usize>,
    /// Which epoch is kept. `None`: the best on validation, or the last where there is no validation set.
    pub select: Option<Select>,
    /// The initial tables.
    pub init: InitialTables,
    /// Shards of users, whose parts of a step are computed one by one: by one process or by as many. More than one gives other
    /// bits.
    pub shards: usize,
}

/// The tables that a training starts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitialTables {
    /// Random.
    #[default]
    Random,
    /// The directions of factors from a few sweeps of iALS, with the lengths of random rows.
    Als,
}

/// Which epoch is kept and tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Select {
    /// The best on the validation set.
    Valid,
    /// The last.
    Last,
    /// The best on the test set itself. This looks at the answers; it exists because published figures do it.
    Test,
}

declared! {
/// `[train]` as it is written.
#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TrainSection {
    /// Passes over the training pairs, at most.
    pub epochs: usize,
    /// Training pairs in a step.
    pub batch_size: usize,
    /// Negatives for each training pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub negatives: Option<usize>,
    /// The seed of initial values, order and negatives.
    pub seed: u64,
    /// Epochs between evaluations.
    pub eval_every: usize,
    /// Stop after this many evaluations without an improvement; "none" runs all epochs. The default doesn't apply where
    /// the last epoch is taken.
    #[serde(with = "super::patience")]
    pub patience: Option<usize>,
    /// Which epoch is kept and tested: the best on validation (the default where there is a validation set), the last,
    /// or the best on the test set itself, as published figures do it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub select: Option<Select>,
    /// The initial tables: random, or the directions of a few sweeps of iALS.
    pub init: InitialTables,
    /// Shards of users, for a training that several processes share: at least one for each. The result depends on their
    /// number, but not on that of the processes. 1 by default; 8 where `rivalry train` is started by `mpirun`, so that up to 8
    /// processes give the same bits. As many as there are processes take the least time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shards: Option<usize>,
}
}

impl Default for TrainSection {
    fn default() -> Self {
        Self {
            epochs: 200,
            batch_size: 1024,
            negatives: None,
            seed: 0,
            eval_every: 5,
            patience: Some(TrainConfig::DEFAULT_PATIENCE),
            select: None,
            init: InitialTables::Random,
            shards: None,
        }
    }
}

/// Beyond this a typo is likelier than an intention.
const MAX_COUNT: usize = 1 << 30;

/// Beyond this a typo is likelier than an intention, and memory would run out before anything is learned.
const MAX_NEGATIVES: usize = 1 << 28;

impl TrainConfig {
    /// Evaluations without an improvement after which a training stops by default.
    pub const DEFAULT_PATIENCE: usize = 10;

    /// The settings that are counts.
    const COUNTS: [&str; 6] = [
        "train.epochs",
        "train.batch_size",
        "train.negatives",
        "train.eval_every",
        "train.patience",
        "train.shards",
    ];
    const COUNT_RANGE: Range = Range::AtLeast(1.0);

    /// The legal values of a setting, where they are fewer than those of its type.
    pub(super) fn range_of(key: &str) -> Option<Range> {
        Self::COUNTS.contains(&key).then_some(Self::COUNT_RANGE)
    }

    /// Checks the ranges that no type can.
    pub(super) fn check(&self) -> Result<()> {
        let Self { epochs, batch_size, negatives, eval_every, patience, shards, .. } = *self;
        let counts = [epochs, batch_size, negatives, eval_every, patience.unwrap_or(1), shards];
        for (key, count) in Self::COUNTS.into_iter().zip(counts) {
            if !Self::COUNT_RANGE.holds(count as f64) || count > MAX_COUNT {
                let what =
                    format!("expected a whole number {} and ≤ {MAX_COUNT}, found {count}", Self::COUNT_RANGE);
                return Err(InputError::new(what).field(key).into());
            }
        }
        if batch_size * negatives > MAX_NEGATIVES {
            let what =
                format!("{negatives} negatives for each of {batch_size} pairs are too many for one step");
            let error = InputError::new(what).field("train.negatives");
            return Err(error.help("lower train.negatives or train.batch_size").into());
        }
        Ok(())
    }
}

impl Config {
    /// The gradient trainer's settings.
    ///
    /// # Errors
    /// If the model is a closed-form one; `what` is what can't be done with it: "be inspected".
    pub fn require_gradient(&self, what: &str) -> Result<&GradientConfig> {
        self.gradient.as_ref().ok_or_else(|| {
            InputError::new(format!("{} is a closed-form model: it can't {what}", self.model.name())).into()
        })
    }

    /// The name of the loss, if the model is trained with one.
    pub fn loss_name(&self) -> Option<&'static str> {
        self.gradient.as_ref().map(|gradient| gradient.loss.name())
    }

    /// The model, and the loss if there is one, as one name: `mf-dsl-ca`, `popularity`.
    pub fn method_name(&self) -> String {
        match self.loss_name() {
            Some(loss) => format!("{}-{loss}", self.model.name()),
            None => self.model.name().to_owned(),
        }
    }

    /// The names that the method may be called by where they are unambiguous: its loss, its model.
    pub fn method_names(&self) -> impl Iterator<Item = &'static str> {
        self.loss_name().into_iter().chain([self.model.name()])
    }

    /// The whole config as a TOML table.
    pub fn to_table(&self) -> toml::Table {
        let section = |name: &str, value: toml::Value| (name.to_owned(), value);
        let plain = "a config holds nothing that TOML can't";
        let mut sections = vec![
            section("data", toml::Value::try_from(&self.data).expect(plain)),
            section("model", self.model.to_table().into()),
            section("eval", toml::Value::try_from(&self.eval).expect(plain)),
        ];
        match &self.gradient {
            None => {
                let seed =
                    toml::Table::from_iter([("seed".to_owned(), toml::Value::Integer(self.seed as i64))]);
                sections.push(section("train", seed.into()));
            }
            Some(GradientConfig { loss, sampler, optim, train }) => {
                let &TrainConfig {
                    epochs, batch_size, negatives, eval_every, patience, select, init, ..
                } = train;
                let (negatives, seed) = (Some(negatives), self.seed);
                // Configs from before there were shards have none.
                let shards = (train.shards > 1).then_some(train.shards);
                let train = TrainSection {
                    epochs,
                    batch_size,
                    negatives,
                    seed,
                    eval_every,
                    patience,
                    select,
                    init,
                    shards,
                };
                sections.push(section("loss", loss.to_table().into()));
                sections.push(section("sampler", sampler.to_table().into()));
                sections.push(section("optim", optim.to_table().into()));
                sections.push(section("train", toml::Value::try_from(train).expect(plain)));
            }
        }
        sections.into_iter().collect()
    }

    /// The whole config as TOML.
    pub fn to_toml(&self) -> String {
        self.to_table().to_string()
    }
}

impl Serialize for Config {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_table().serialize(serializer)
    }
}
