//! The sampled-gradient trainer: one step ([`GradientStep`]), and the loop of epochs around it.

mod epochs;
mod footprint;
mod init;
mod model;
mod optimized;
mod shards;
mod start;
mod state;
mod step;
mod warm;

pub use footprint::footprint;
pub(crate) use init::initial_where;
pub use model::EmbeddingModel;
pub use optimized::OptimizedModel;
pub(crate) use shards::cut;
pub use step::{Batch, BatchLoss, Draw, Drawn, Forward, GradientStep, Gradients, Scored};
pub use warm::warm_start;

use std::ops::Range;

use self::epochs::Epochs;
use self::shards::Shards;
use super::{Checkpointer, Fitted, Observer, Trainer, TrainingState};
use crate::collective::{Alone, Collective};
use crate::config::{Config, GradientConfig, InitialTables, Select, TrainConfig};
use crate::data::{Dataset, Interactions};
use crate::memory::MemoryLimit;
use crate::{InputError, Result};

/// Whether a process needs no rows of other processes' users.
pub(super) fn takes_own_rows(config: &Config, gradient: &GradientConfig) -> bool {
    !config.model.uses_graph() && gradient.train.init == InitialTables::Random
}

/// The users of one of several processes.
pub(super) fn users_of_rank(
    gradient: &GradientConfig,
    train: &Interactions,
    rank: usize,
    ranks: usize,
) -> Result<Range<u32>> {
    Shards::new(train, gradient.train.shards, rank, ranks).map(|shards| shards.my_users())
}

/// Trains embeddings behind a backbone by sampled gradients.
pub struct GradientTrainer<'a> {
    config: &'a Config,
    gradient: &'a GradientConfig,
    memory: MemoryLimit,
    collective: &'a dyn Collective,
}

impl<'a> GradientTrainer<'a> {
    /// A trainer with these settings; `gradient` are those of the config.
    pub fn new(config: &'a Config, gradient: &'a GradientConfig, memory: MemoryLimit) -> Self {
        Self { config, gradient, memory, collective: &Alone }
    }

    /// The same as one of several processes that train one model.
    #[must_use]
    pub fn with_collective(self, collective: &'a dyn Collective) -> Self {
        Self { collective, ..self }
    }

    /// The shards of users.
    fn shards(&self, dataset: &Dataset) -> Result<Shards> {
        let (rank, ranks) = (self.collective.rank(), self.collective.size());
        if ranks > 1 && self.config.model.uses_graph() {
            let what = format!("{} can't be trained by several processes", self.config.model.name());
            let help = "its propagation goes through the embeddings of all users; use one process, or a model without a graph: mf, fism";
            return Err(InputError::new(what).field("model.type").help(help).into());
        }
        Shards::new(&dataset.train, self.gradient.train.shards, rank, ranks)
    }

    /// How the epoch is chosen, given what the data have.
    fn selection(&self, dataset: &Dataset) -> Result<Select> {
        let no_validation = dataset.valid.is_empty();
        match self.gradient.train.select {
            Some(Select::Valid) if no_validation => Err(no_set("validation").into()),
            Some(Select::Test) if dataset.test.is_empty() => Err(no_set("test").into()),
            Some(select) => Ok(select),
            None if no_validation => Ok(Select::Last),
            None => Ok(Select::Valid),
        }
    }
}

/// The error where the epoch is to be chosen on a set that the data don't have.
fn no_set(name: &str) -> InputError {
    let key = if name == "test" { "split" } else { "validation" };
    InputError::new(format!("the data have no {name} set to choose the epoch on")).field("train.select").help(
        format!(
            "use `train.select = \"last\"`, or split off a {name} set: `data.prepare.{key}.type = \"random\"`"
        ),
    )
}

impl Trainer for GradientTrainer<'_> {
    fn check(&self, dataset: &Dataset) -> Result<()> {
        let train = &self.gradient.train;
        let asked_for = train.patience.is_some_and(|patience| patience != TrainConfig::DEFAULT_PATIENCE);
        if self.selection(dataset)? == Select::Last && asked_for {
            return Err(InputError::new(
                "early stopping needs an epoch that is chosen, and the last one is taken",
            )
            .field("train.patience")
            .help("leave it out, or choose the epoch on a validation set")
            .into());
        }
        self.config.eval.check(dataset)?;
        self.shards(dataset)?;
        let limits = (self.memory, self.collective.is_root());
        footprint::check(dataset, self.config, self.gradient, limits)?;
        self.gradient.sampler.build(dataset, train.negatives).map(drop)
    }

    fn fit(
        &self,
        dataset: &Dataset,
        from: Option<TrainingState>,
        checkpointer: &mut dyn Checkpointer,
        observer: &mut dyn Observer,
    ) -> Result<Fitted> {
        self.collective.agree(self.check(dataset))?;
        Epochs::new(self, dataset, from)?.run(checkpointer, observer)
    }
}
