//! `rivalry recommend` and `rivalry similar`

use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};
use rivalry::ranker::Known;

use super::{IdsArgs, Machine};

/// `rivalry recommend`
#[derive(Debug, Args)]
#[group(skip)]
pub struct RecommendArgs {
    /// Run folder or model file
    pub run: PathBuf,
    #[command(flatten)]
    pub users: UsersArgs,
    /// Leave out users that the model doesn't know, and say which
    #[arg(long)]
    pub skip_unknown: bool,
    /// Items of a user that are not recommended [default: all]. With 'all', no item of the test set is in a list: to score
    /// lists against the test set, use 'train+valid', as 'evaluate' does
    #[arg(long, value_enum, value_name = "SETS")]
    pub exclude: Option<ExcludeArg>,
    /// Number of items per user
    #[arg(short, long, visible_short_alias = 'n', value_name = "K", default_value_t = 20)]
    #[arg(value_parser = value_parser!(u32).range(1..))]
    pub k: u32,
    /// CSV file with titles of items (id, title), which are added to the lists
    #[arg(long, value_name = "FILE")]
    pub items: Option<PathBuf>,
    /// Add which items of the user's history contribute most to each score
    #[arg(long)]
    pub explain: bool,
    /// Write a table (user, rank, item, score) to this file, or to standard output with '-'; the extension decides the
    /// format: .csv, .tsv, .jsonl or .json, also with .gz or .zst, or .parquet
    #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
    pub out: Option<PathBuf>,
    /// Format of --out, such as jsonl or csv.gz [default: by the extension; csv for standard output]
    #[arg(long, value_name = "NAME", requires = "out")]
    pub format: Option<String>,
    #[command(flatten)]
    pub ids: IdsArgs,
    /// Overwrite an existing file
    #[arg(long, requires = "out")]
    pub force: bool,
    #[command(flatten)]
    pub machine: Machine,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The users to recommend to.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct UsersArgs {
    /// User ids, as in the data
    #[arg(long, value_name = "ID", num_args = 1.., allow_negative_numbers = true)]
    pub user: Vec<String>,
    /// File of user ids, one per line; '-' for standard input
    #[arg(long, visible_alias = "users", value_name = "FILE")]
    pub users_file: Option<PathBuf>,
    /// All users; requires --out
    #[arg(long, requires = "out")]
    pub all: bool,
    /// File of interactions of new users, in any format that 'train' reads: recommends to them by fold-in, from these rows
    /// only
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
}

/// The known items that are left out.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ExcludeArg {
    /// Training items
    Train,
    /// Training and validation items
    #[value(name = "train+valid")]
    TrainValid,
    /// Training, validation and test items
    All,
}

impl From<ExcludeArg> for Known {
    fn from(exclude: ExcludeArg) -> Self {
        match exclude {
            ExcludeArg::Train => Self::Train,
            ExcludeArg::TrainValid => Self::TrainValid,
            ExcludeArg::All => Self::All,
        }
    }
}

/// `rivalry similar`
#[derive(Debug, Args)]
pub struct SimilarArgs {
    /// Run folder or model file
    pub run: PathBuf,
    /// Item id, as in the data
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    pub item: String,
    /// Number of similar items
    #[arg(short, long, visible_short_alias = 'n', value_name = "K", default_value_t = 20)]
    #[arg(value_parser = value_parser!(u32).range(1..))]
    pub k: u32,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
