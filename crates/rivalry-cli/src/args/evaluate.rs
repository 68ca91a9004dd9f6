//! `rivalry evaluate`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{IdsArgs, Machine};

/// `rivalry evaluate`
#[derive(Debug, Args)]
pub struct EvaluateArgs {
    /// Run folder
    pub run: PathBuf,
    /// Cut-offs K, such as 5,20 [default: those of the run]
    #[arg(short, long, value_delimiter = ',', value_name = "K,…")]
    pub k: Vec<usize>,
    /// Set to evaluate on
    #[arg(long, value_enum, default_value_t = SplitArg::Test)]
    pub split: SplitArg,
    /// Items excluded from test rankings [default: as in the run's config]
    #[arg(long, value_enum)]
    pub mask: Option<MaskArg>,
    /// Users to average over [default: as in the run's config]
    #[arg(long, value_enum)]
    pub average: Option<AverageArg>,
    /// Write the metrics of each user, with original ids, to this file (.csv, .tsv, .jsonl or .json, also with .gz or
    /// .zst, or .parquet), or to standard output with '-'
    #[arg(long, value_name = "FILE")]
    pub per_user: Option<PathBuf>,
    /// Format of --per-user, such as jsonl or csv.gz [default: by the extension; csv for standard output]
    #[arg(long, value_name = "NAME", requires = "per_user")]
    pub format: Option<String>,
    #[command(flatten)]
    pub ids: IdsArgs,
    /// Overwrite an existing file
    #[arg(long, requires = "per_user")]
    pub force: bool,
    /// Report the most and the least popular 20 % of the items separately
    #[arg(long)]
    pub buckets: bool,
    /// Report coverage, average popularity and Gini index of the recommended lists
    #[arg(long)]
    pub beyond: bool,
    /// Recompute every list and metric with a plain f64 implementation, and fail on any difference (slow)
    #[arg(long)]
    pub verify: bool,
    /// Where the run's data are now [default: where they were]
    #[arg(long, value_name = "NAME|PATH")]
    pub data: Option<String>,
    /// Folder to search first for named data sets
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub machine: Machine,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The sets a model can be evaluated on.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SplitArg {
    /// Test set
    Test,
    /// Validation set
    Valid,
}

/// The masks.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum MaskArg {
    /// Training items of the user
    Train,
    /// Training and validation items of the user
    #[value(name = "train+valid")]
    TrainValid,
}

/// The averages.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum AverageArg {
    /// Users with at least one held-out item
    Evaluable,
    /// All users; those without held-out items count as 0
    All,
}
