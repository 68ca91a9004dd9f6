//! `rivalry train`

use std::path::PathBuf;

use clap::{Args, Command, Id};

use super::Common;
use super::data::{Layer, PrepareArgs, ReadArgs, seed};

/// `rivalry train`
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// Where named data sets are looked for first
    #[arg(long, value_name = "DIR", help_heading = "Data", display_order = 1)]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub new: NewRunArgs,
    /// Times through the training pairs [default: 200]
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub epochs: Option<u32>,
    /// Go on with a run where it stopped, by its own config; --epochs may give it more epochs
    #[arg(long, value_name = "RUN", help_heading = "Run")]
    #[arg(conflicts_with_all = ids_of_a_new_run())]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub prepare: PrepareArgs,
}

/// What a new run is made of. A resumed one has its own.
#[derive(Debug, Args)]
pub struct NewRunArgs {
    /// A file or folder of interactions, or the name of a known data set
    #[arg(long, value_name = "NAME|PATH", help_heading = "Data", display_order = 0)]
    data: Option<String>,
    /// A cell of the published tables, such as paper/amazon2014-health/mf/sl: its data, settings and protocol
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    #[arg(conflicts_with_all = ["data", "model", "loss"])]
    pub preset: Option<String>,
    /// Share negatives within a batch: quicker on large catalogues, for a noisier gradient
    #[arg(long, help_heading = "Training")]
    pub fast: bool,
    /// A TOML file of settings, such as a run's config.toml
    #[arg(long, value_name = "FILE", help_heading = "Training")]
    pub config: Option<PathBuf>,
    /// The model (see 'rivalry list models') [default: mf]
    #[arg(long, value_name = "NAME", alias = "backbone", help_heading = "Training")]
    pub model: Option<String>,
    /// What is minimised (see 'rivalry list losses') [default: dsl]
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    loss: Option<String>,
    /// Learning rate [default: 0.1]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = "Training")]
    lr: Option<f64>,
    /// Embedding dimension [default: 64]
    #[arg(long, value_name = "N", help_heading = "Training")]
    dim: Option<u32>,
    /// Negatives for each training pair [default: what the loss is used with; softmax family 1000]
    #[arg(long, value_name = "N", help_heading = "Training")]
    negatives: Option<u32>,
    /// Training pairs in a step [default: 1024]
    #[arg(long, value_name = "N", help_heading = "Training")]
    batch_size: Option<u32>,
    /// Epochs between evaluations [default: 5]
    #[arg(long, value_name = "N", help_heading = "Training")]
    eval_every: Option<u32>,
    /// Stop after this many evaluations without a better one; without it all epochs are run
    #[arg(long, value_name = "N", help_heading = "Training")]
    patience: Option<u32>,
    /// Decides initial values, order and negatives [default: 0]
    #[arg(long, value_name = "N", value_parser = seed(), help_heading = "Training")]
    seed: Option<u64>,
    /// Any setting of the config, such as loss.tau=0.1; may be repeated
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Training")]
    pub set: Vec<String>,
    /// The folder of the run; without it the first free of runs/DATA-MODEL-LOSS-1, -2, …
    #[arg(long, value_name = "RUN", help_heading = "Run")]
    pub out: Option<PathBuf>,
    /// Replace the run in that folder
    #[arg(long, requires = "out", help_heading = "Run")]
    pub force: bool,
    /// The seed of random splits
    #[arg(long, value_name = "N", value_parser = seed(), help_heading = "Preparing")]
    split_seed: Option<u64>,
}

/// What a resumed run has in its own config. Each by its name, so that an error shows only what was given.
fn ids_of_a_new_run() -> Vec<Id> {
    let command = NewRunArgs::augment_args(Command::new("new"));
    let command = PrepareArgs::augment_args(ReadArgs::augment_args(command));
    command.get_arguments().map(|arg| arg.get_id().clone()).collect()
}

impl TrainArgs {
    /// The flags as settings; `--config` and `--set` are layers of their own.
    pub fn layer(&self) -> toml::Table {
        let mut layer = Layer::default();
        let new = &self.new;
        layer.put("data.source", new.data.clone());
        layer.put("sampler.type", new.fast.then(|| "shared".to_owned()));
        self.read.put_into(&mut layer);
        self.prepare.put_into(&mut layer, new.split_seed);
        layer.put("model.type", new.model.clone());
        layer.put("loss.type", new.loss.clone());
        layer.put("model.dim", new.dim);
        layer.put("optim.lr", new.lr);
        layer.put("train.epochs", self.epochs);
        layer.put("train.batch_size", new.batch_size);
        layer.put("train.negatives", new.negatives);
        layer.put("train.eval_every", new.eval_every);
        layer.put("train.patience", new.patience);
        layer.put("train.seed", new.seed.map(|seed| seed as i64));
        layer.0
    }
}
