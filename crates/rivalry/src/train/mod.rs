//! Training: a [`Trainer`] turns a data set and a config into a model.
//!
//! The sampled-gradient loop ([`gradient`]) is one trainer, a closed form another. Trainers know
//! losses, backbones, samplers, optimisers and metrics by their traits alone, and files not at all: what must outlive a
//! training goes to a [`Checkpointer`], progress to an [`Observer`].

mod checkpoint;
mod closed_form;
pub mod gradient;
mod nothing_learned;
mod outcome;
mod progress;

pub use checkpoint::{Checkpointer, NoCheckpoints, Snapshot, TrainingState};
pub use gradient::warm_start;
pub use outcome::{Ending, EpochOutcome, Fit, Fitted, Outcome};
pub use progress::{Best, NoObserver, Observer, Progress, Record, Seconds, TrainEvent};

use self::closed_form::ClosedFormTrainer;
use self::gradient::GradientTrainer;
use self::nothing_learned::nothing_learned;
use crate::Result;
use crate::collective::{Alone, Collective};
use crate::config::Config;
use crate::data::{Dataset, DownloadProgress, Interactions, LoadOptions, Peers, load, load_share};
use crate::eval::{EvalOptions, EvalPart, Evaluation, Ranks};
use crate::memory::MemoryLimit;
use crate::scorer::Scorer;

/// Turns a data set into a model.
pub trait Trainer {
    /// Refuses what [`fit`](Self::fit) could not train, before anything costly is done or anything is written.
    ///
    /// # Errors
    /// If settings and data don't go together, or the training would not fit into memory.
    fn check(&self, dataset: &Dataset) -> Result<()>;

    /// Trains a model on the training set and tests it.
    ///
    /// Runs on the current rayon thread pool; the same config and data give the same bits for any number of threads.
    ///
    /// # Errors
    /// As [`check`](Self::check), and if the loss or a score becomes non-finite or the checkpointer fails.
    fn fit(
        &self,
        dataset: &Dataset,
        from: Option<TrainingState>,
        checkpointer: &mut dyn Checkpointer,
        observer: &mut dyn Observer,
    ) -> Result<Fitted>;
}

/// The trainer of the model that a config names. A training that would not fit into memory is refused.
pub fn trainer(config: &Config, memory: MemoryLimit) -> Box<dyn Trainer + '_> {
    shared_trainer(config, memory, &Alone)
}

/// The same as one of several processes that train one model. Rank 0 alone resumes from a state, saves, and has the figures of
/// all; the other ranks need neither state nor checkpointer.
pub fn shared_trainer<'a>(
    config: &'a Config,
    memory: MemoryLimit,
    collective: &'a dyn Collective,
) -> Box<dyn Trainer + 'a> {
    match &config.gradient {
        Some(gradient) => {
            Box::new(GradientTrainer::new(config, gradient, memory).with_collective(collective))
        }
        None => Box::new(ClosedFormTrainer::new(config, memory, collective)),
    }
}

/// Loads the data set of a config as one of several processes that train on it: with the rows of its own users alone, where the
/// training takes no others and [`load_share`] can give them. All processes call it, with the same settings.
///
/// # Errors
/// As [`load_share`], and if there are too few users or shards for so many processes.
pub fn load_shared(
    config: &Config,
    options: &LoadOptions,
    collective: &dyn Collective,
    progress: &mut dyn FnMut(DownloadProgress<'_>),
) -> Result<Dataset> {
    let (rank, ranks) = (collective.rank(), collective.size());
    match &config.gradient {
        Some(gradient) if ranks > 1 && gradient::takes_own_rows(config, gradient) => {
            let mut users = |train: &Interactions| gradient::users_of_rank(gradient, train, rank, ranks);
            load_share(&config.data, options, &Loading(collective), &mut users, progress)
        }
        _ => load(&config.data, options, progress),
    }
}

/// The processes of a training while they load its data.
struct Loading<'a>(&'a dyn Collective);

impl Peers for Loading<'_> {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn all_gather(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.0.all_gather(bytes)
    }

    fn all_to_all(&self, parts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        self.0.all_to_all(parts)
    }
}

/// [`Trainer::fit`] of the config's trainer, within the memory that is free.
///
/// # Errors
/// If this config can't be trained on these data, or the training fails.
pub fn fit(
    dataset: &Dataset,
    config: &Config,
    from: Option<TrainingState>,
    checkpointer: &mut dyn Checkpointer,
    observer: &mut dyn Observer,
) -> Result<Fitted> {
    trainer(config, MemoryLimit::default()).fit(dataset, from, checkpointer, observer)
}

/// Evaluates, unless the observer of any rank asks to stop. A data set without that part has an empty evaluation.
fn evaluate_part(
    scorer: &dyn Scorer,
    (dataset, part, ranks): (&Dataset, EvalPart, &Ranks<'_>),
    options: &EvalOptions,
    observer: &mut dyn Observer,
) -> Result<Option<Evaluation>> {
    let held_out = match part {
        EvalPart::Valid => &dataset.valid,
        EvalPart::Test => &dataset.test,
    };
    if held_out.is_empty() {
        return Ok(Some(Evaluation::default()));
    }
    ranks.evaluate(scorer, (dataset, part), options, &mut |users| {
        observer.observe(&TrainEvent::Evaluating { users })
    })
}
