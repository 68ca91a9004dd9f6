//! `rivalry auto`

use std::path::PathBuf;

use clap::Args;
use rivalry::eval::MetricAt;

use super::Common;
use super::data::{Layer, PrepareArgs, ReadArgs, seed};

/// `rivalry auto`
#[derive(Debug, Args)]
#[command(
    after_help = "Reads the log, filters and splits it, fits the cheap models, and spends the rest of the time on models
trained by gradients. The validation set decides; the winner is tested once, and then trained on everything.\n
Ctrl-C ends it with the best so far. The same command goes on where it was, also after a crash; with more
--minutes it goes on after its end."
)]
pub struct AutoArgs {
    /// File, folder or name of a data set (see 'rivalry list datasets')
    #[arg(value_name = "LOG")]
    pub source: String,
    /// Time for the search, in minutes
    #[arg(long, value_name = "N", default_value_t = 10.0, allow_negative_numbers = true)]
    pub minutes: f64,
    /// Metric that decides, such as Recall@10; by default NDCG@20, or of shorter lists where there are few items
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<MetricAt>,
    /// Folder of the search [default: runs/auto-DATA]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Folder to search first for named data sets
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
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

impl AutoArgs {
    /// The flags as settings of the data; `source` is where they are.
    pub fn layer(&self, source: String) -> toml::Table {
        let mut layer = Layer::default();
        layer.put("data.source", Some(source));
        self.read.put_into(&mut layer);
        self.prepare.put_into(&mut layer, self.split_seed);
        layer.0
    }
}
