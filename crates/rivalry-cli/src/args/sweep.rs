//! `rivalry sweep`

use std::path::PathBuf;

use clap::{Args, value_parser};
use rivalry::InputError;
use rivalry_runs::sweep::{Shard, is_closed_form};

use super::Common;
use super::data::{Layer, PrepareArgs, ReadArgs, seed};
use super::selection::SelectionArgs;

/// `rivalry sweep`
#[derive(Debug, Args)]
#[command(after_help = "Search file:\n
  base = { data.source = 'amazon2014-health', train.epochs = 100 }   # shared by all trials
  grid = { loss.type = 'dsl', loss.tau = [0.2, 0.25], loss.alpha = [1, 2, 3] }   # search space\n
Write several grids as [[grid]]. trials = 50 draws 50 trials of each grid at random; a value can
then also be a range, { from = 0.001, to = 0.1, log = true }. seeds = 5 trains the best trial of
each loss with five seeds.\n
Wherever there is something to search, the defaults of the loss and the preset for the data, if
there is one, are trials, too, and are trained to the end: a sweep never ends below them. It warns
if the best lies at the edge of what was searched.\n
Trials are selected on the validation set, never on the test set. Run the same command again to
resume an interrupted sweep, or several times at once, on any machines that share its folder, to
share the work between processes.")]
pub struct SweepArgs {
    /// TOML search file [default: search around what works for each --loss]
    pub file: Option<PathBuf>,
    /// File, folder or name of a data set (see 'rivalry list datasets')
    #[arg(long, value_name = "NAME|PATH", help_heading = "Data", display_order = 0)]
    data: Option<String>,
    /// Folder to search first for named data sets
    #[arg(long, value_name = "DIR", help_heading = "Data", display_order = 1)]
    pub data_dir: Option<PathBuf>,
    /// Search this loss (see 'rivalry list losses' for what is searched); repeatable
    #[arg(long, value_name = "NAME", help_heading = "Search")]
    pub loss: Vec<String>,
    /// Search these values of a key and nothing else, such as loss.tau=0.1,0.2,0.3, or 'paper' for the
    /// published grid of each --loss; repeatable
    #[arg(long, value_name = "KEY=V1,V2,…|paper", help_heading = "Search")]
    pub grid: Vec<String>,
    /// Draw N random trials of each loss and closed-form model, besides their defaults, instead of trying all of the grid
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), help_heading = "Search")]
    pub trials: Option<u32>,
    /// Train the best trial of each loss with N seeds
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), help_heading = "Search")]
    pub seeds: Option<u32>,
    /// Successive halving: drop the worst two thirds of the trials after 1/9 and after 1/3 of the epochs
    #[arg(long, help_heading = "Search")]
    pub halving: bool,
    /// Model of the losses [default: mf], or a closed-form model to add (see 'rivalry list models'); repeatable
    #[arg(long, value_name = "NAME", alias = "backbone", help_heading = "Search")]
    pub model: Vec<String>,
    /// Share negatives within a batch in all trials: faster on large catalogues, with noisier gradients
    #[arg(long, help_heading = "Training")]
    fast: bool,
    /// Learning rate of all trials [default: searched]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = "Training")]
    lr: Option<f64>,
    /// Number of epochs of a trial, at most [default: 200]
    #[arg(long, value_name = "N", help_heading = "Training")]
    epochs: Option<u32>,
    /// Negatives per training pair [default: depends on the loss; 1000 for the softmax family]
    #[arg(long, value_name = "N", help_heading = "Training")]
    negatives: Option<u32>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Set any config key for all trials, such as train.eval_every=2; repeatable
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Training")]
    pub set: Vec<String>,
    /// Sweep folder [default: runs/sweep-NAME, named after the search file or after data and losses]
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    pub out: Option<PathBuf>,
    /// Trials to run in parallel [default: number of threads]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024), help_heading = "Run")]
    pub jobs: Option<u16>,
    /// Begin with share I of N of the trials, then take what no other process has begun: for the tasks of an array job, with
    /// --out on a file system that all of them see
    #[arg(long, value_name = "I/N", help_heading = "Run")]
    pub shard: Option<Shard>,
    /// Keep the models of all trials, not only the best of each loss
    #[arg(long, help_heading = "Run")]
    pub keep_models: bool,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    prepare: PrepareArgs,
    /// Seed of random splits [default: 0]
    #[arg(long, value_name = "N", value_parser = seed(), help_heading = "Preparing")]
    split_seed: Option<u64>,
}

impl SweepArgs {
    /// The closed-form models, which are trials of their own.
    pub fn closed_forms(&self) -> impl Iterator<Item = &str> {
        self.model.iter().map(String::as_str).filter(|name| is_closed_form(name))
    }

    /// The flags as settings of all trials.
    ///
    /// # Errors
    /// If there is more than one model for the losses.
    pub fn layer(&self) -> rivalry::Result<toml::Table> {
        let mut models = self.model.iter().filter(|name| !is_closed_form(name));
        let model = models.next();
        if let (Some(first), Some(second)) = (model, models.next()) {
            return Err(InputError::new(format!("{first} and {second} are both trained with a loss"))
                .field("--model")
                .help("run one sweep per model, or give a search file with model.type in its grid")
                .into());
        }
        let mut layer = Layer::default();
        layer.put("data.source", self.data.clone());
        layer.put("sampler.type", self.fast.then(|| "shared".to_owned()));
        self.read.put_into(&mut layer);
        self.prepare.put_into(&mut layer, self.split_seed);
        layer.put("model.type", model.cloned());
        layer.put("optim.lr", self.lr);
        layer.put("train.epochs", self.epochs);
        layer.put("train.negatives", self.negatives);
        self.selection.put_into(&mut layer);
        Ok(layer.0)
    }
}
