//! `rivalry sweep`

use std::path::PathBuf;

use clap::{Args, value_parser};

use super::Common;
use super::data::{Layer, PrepareArgs, ReadArgs, seed};

/// `rivalry sweep`
#[derive(Debug, Args)]
#[command(after_help = "A search file:\n
  base = { data.source = 'amazon2014-health', train.epochs = 100 }   # what all trials share
  grid = { loss.type = 'dsl', loss.tau = [0.2, 0.25], loss.alpha = [1, 2, 3] }   # what they differ in\n
Several grids are written [[grid]]. With trials = 50 so many are drawn at random, and a value may also be
{ from = 0.001, to = 0.1, log = true }. With seeds = 5 the best of each loss is trained from five seeds.\n
Settings are chosen on the validation part, never on the test part. Run the same command again to go on
with a sweep that was stopped, or at the same time to share its work.")]
pub struct SweepArgs {
    /// A TOML file that says what to try; without it the grid that comes with each --loss
    pub file: Option<PathBuf>,
    /// A file or folder of interactions, or the name of a known data set
    #[arg(long, value_name = "NAME|PATH", help_heading = "Data", display_order = 0)]
    data: Option<String>,
    /// Where named data sets are looked for first
    #[arg(long, value_name = "DIR", help_heading = "Data", display_order = 1)]
    pub data_dir: Option<PathBuf>,
    /// Search this loss over its own grid (see 'rivalry list losses'); may be repeated
    #[arg(long, value_name = "NAME", help_heading = "Search")]
    pub loss: Vec<String>,
    /// Draw so many trials at random from the grids
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), help_heading = "Search")]
    pub trials: Option<u32>,
    /// Train the best of each loss from so many seeds in the end
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), help_heading = "Search")]
    pub seeds: Option<u32>,
    /// Give up the worse two thirds of the trials after a ninth of the epochs, and again after a third
    #[arg(long, help_heading = "Search")]
    pub halving: bool,
    /// The model (see 'rivalry list models') [default: mf]
    #[arg(long, value_name = "NAME", alias = "backbone", help_heading = "Training")]
    pub model: Option<String>,
    /// Learning rate [default: 0.1]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = "Training")]
    lr: Option<f64>,
    /// Times through the training pairs [default: 200]
    #[arg(long, value_name = "N", help_heading = "Training")]
    epochs: Option<u32>,
    /// Negatives for each training pair [default: what the loss is used with; softmax family 1000]
    #[arg(long, value_name = "N", help_heading = "Training")]
    negatives: Option<u32>,
    /// Stop a trial after this many evaluations without a better one
    #[arg(long, value_name = "N", help_heading = "Training")]
    patience: Option<u32>,
    /// Any setting of the config, for all trials, such as train.eval_every=2; may be repeated
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Training")]
    pub set: Vec<String>,
    /// The folder of the sweep; without it runs/sweep-NAME, where NAME is that of the file or of data and losses
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    pub out: Option<PathBuf>,
    /// Trials side by side; without it as many as there are threads
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024), help_heading = "Run")]
    pub jobs: Option<u16>,
    /// Keep the models of all trials, not only of the best of each loss
    #[arg(long, help_heading = "Run")]
    pub keep_models: bool,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    prepare: PrepareArgs,
    /// The seed of random splits
    #[arg(long, value_name = "N", value_parser = seed(), help_heading = "Preparing")]
    split_seed: Option<u64>,
}

impl SweepArgs {
    /// The flags as settings of all trials.
    pub fn layer(&self) -> toml::Table {
        let mut layer = Layer::default();
        layer.put("data.source", self.data.clone());
        self.read.put_into(&mut layer);
        self.prepare.put_into(&mut layer, self.split_seed);
        layer.put("model.type", self.model.clone());
        layer.put("optim.lr", self.lr);
        layer.put("train.epochs", self.epochs);
        layer.put("train.negatives", self.negatives);
        layer.put("train.patience", self.patience);
        layer.0
    }
}
