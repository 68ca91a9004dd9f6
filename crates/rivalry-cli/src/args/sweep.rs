//! `rivalry sweep`

use std::path::PathBuf;

use clap::{Args, value_parser};
use rivalry::InputError;
use rivalry_runs::sweep::is_closed_form;

use super::Common;
use super::data::{Layer, PrepareArgs, ReadArgs, seed};

/// `rivalry sweep`
#[derive(Debug, Args)]
#[command(after_help = "A search file:\n
  base = { data.source = 'amazon2014-health', train.epochs = 100 }   # settings of all trials
  grid = { loss.type = 'dsl', loss.tau = [0.2, 0.25], loss.alpha = [1, 2, 3] }   # values to try\n
Several grids are written [[grid]]. With trials = 50, that many combinations are drawn at random, and a value may also be a range
{ from = 0.001, to = 0.1, log = true }. With seeds = 5 the best trial of each loss is trained with five seeds.\n
Settings are selected on the validation part, never on the test part. Run the same command again to resume a
sweep, or several times in parallel to share the work.")]
pub struct SweepArgs {
    /// A TOML file with the search space; without it the built-in grid of each --loss
    pub file: Option<PathBuf>,
    /// A file or folder of interactions, or the name of a known data set
    #[arg(long, value_name = "NAME|PATH", help_heading = "Data", display_order = 0)]
    data: Option<String>,
    /// Where named data sets are looked for first
    #[arg(long, value_name = "DIR", help_heading = "Data", display_order = 1)]
    pub data_dir: Option<PathBuf>,
    /// Sweep this loss over its built-in grid (see 'rivalry list losses'); may be repeated
    #[arg(long, value_name = "NAME", help_heading = "Search")]
    pub loss: Vec<String>,
    /// Draw this many trials at random from the grids
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), help_heading = "Search")]
    pub trials: Option<u32>,
    /// Train the best trial of each loss with this many seeds in the end
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), help_heading = "Search")]
    pub seeds: Option<u32>,
    /// Successive halving: keep the best third of the trials after a ninth of the epochs, and again after a third
    #[arg(long, help_heading = "Search")]
    pub halving: bool,
    /// The model of the losses [default: mf], or a closed-form model to add to the sweep (see 'rivalry list models'); may
    /// be repeated
    #[arg(long, value_name = "NAME", alias = "backbone", help_heading = "Search")]
    pub model: Vec<String>,
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
    /// Trials in parallel [default: the number of threads]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024), help_heading = "Run")]
    pub jobs: Option<u16>,
    /// Keep the models of all trials, not only the best of each loss
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
        self.read.put_into(&mut layer);
        self.prepare.put_into(&mut layer, self.split_seed);
        layer.put("model.type", model.cloned());
        layer.put("optim.lr", self.lr);
        layer.put("train.epochs", self.epochs);
        layer.put("train.negatives", self.negatives);
        layer.put("train.patience", self.patience);
        Ok(layer.0)
    }
}
