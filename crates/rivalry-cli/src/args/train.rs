//! `rivalry train`

use std::path::PathBuf;

use clap::{Args, Command, Id};

use super::Common;
use super::data::{Layer, PrepareArgs, ReadArgs, seed};
use super::selection::SelectionArgs;

/// `rivalry train`
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// Folder to search first for named data sets
    #[arg(long, value_name = "DIR", help_heading = "Data", display_order = 1)]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub new: NewRunArgs,
    /// Number of epochs, at most [default: 200]
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub epochs: Option<u32>,
    /// Resume a run from its checkpoint, with its own config; --epochs can extend it
    #[arg(long, value_name = "RUN", help_heading = "Run")]
    #[arg(conflicts_with_all = new_run_arg_ids())]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub prepare: PrepareArgs,
}

/// Options of a new run. A resumed run has its own config.
#[derive(Debug, Args)]
pub struct NewRunArgs {
    /// File, folder, '-' for standard input, or name of a data set (see 'rivalry list datasets'); with --resume, where
    /// the run's data are now
    #[arg(long, value_name = "NAME|PATH", help_heading = "Data", display_order = 0)]
    pub data: Option<String>,
    /// Data, hyperparameters and protocol of a published result, such as paper/amazon2014-health/mf/sl
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    #[arg(conflicts_with_all = ["data", "model", "loss"])]
    pub preset: Option<String>,
    /// Share negatives within a batch: faster on large catalogues, with noisier gradients
    #[arg(long, help_heading = "Training")]
    pub fast: bool,
    /// TOML config file, such as a run's config.toml
    #[arg(long, value_name = "FILE", help_heading = "Training")]
    pub config: Option<PathBuf>,
    /// Model (see 'rivalry list models') [default: mf]
    #[arg(long, value_name = "NAME", alias = "backbone", help_heading = "Training")]
    pub model: Option<String>,
    /// Loss (see 'rivalry list losses') [default: dsl-ca with a popularity prior]
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    loss: Option<String>,
    /// Learning rate [default: depends on the loss; 0.1 for the softmax family]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = "Training")]
    lr: Option<f64>,
    /// Embedding dimension [default: 64]
    #[arg(long, value_name = "N", help_heading = "Training")]
    dim: Option<u32>,
    /// Negatives per training pair [default: depends on the loss; 1000 for the softmax family]
    #[arg(long, value_name = "N", help_heading = "Training")]
    negatives: Option<u32>,
    /// Training pairs per step [default: 1024]
    #[arg(long, value_name = "N", help_heading = "Training")]
    batch_size: Option<u32>,
    /// Epochs between evaluations [default: 5]
    #[arg(long, value_name = "N", help_heading = "Training")]
    eval_every: Option<u32>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Seed of initialisation, shuffling and negative sampling [default: 0]
    #[arg(long, value_name = "N", value_parser = seed(), help_heading = "Training")]
    seed: Option<u64>,
    /// Set any config key, such as loss.tau=0.1; repeatable
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Training")]
    pub set: Vec<String>,
    /// Run folder [default: runs/DATA-MODEL-LOSS-N]
    #[arg(long, value_name = "RUN", help_heading = "Run")]
    pub out: Option<PathBuf>,
    /// Overwrite an existing run
    #[arg(long, requires = "out", help_heading = "Run")]
    pub force: bool,
    /// Seed of random splits [default: 0]
    #[arg(long, value_name = "N", value_parser = seed(), help_heading = "Preparing")]
    split_seed: Option<u64>,
}

/// The ids of all arguments that --resume conflicts with, one by one, so that an error names only what was given.
fn new_run_arg_ids() -> Vec<Id> {
    let command = NewRunArgs::augment_args(Command::new("new"));
    let command = PrepareArgs::augment_args(ReadArgs::augment_args(command));
    command.get_arguments().map(|arg| arg.get_id().clone()).filter(|id| id != "data").collect()
}

impl TrainArgs {
    /// The flags as a config layer; `--config` and `--set` are layers of their own.
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
        new.selection.put_into(&mut layer);
        layer.put("train.seed", new.seed.map(|seed| seed as i64));
        layer.0
    }
}
