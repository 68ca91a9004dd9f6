//! `rivalry recommend` and `rivalry similar`

use std::path::PathBuf;

use clap::{Args, value_parser};

use super::Machine;

/// `rivalry recommend`
#[derive(Debug, Args)]
#[group(skip)]
pub struct RecommendArgs {
    /// Run folder or model file
    pub run: PathBuf,
    #[command(flatten)]
    pub users: UsersArgs,
    /// Number of items per user
    #[arg(short, default_value_t = 20, value_parser = value_parser!(u32).range(1..))]
    pub n: u32,
    /// Write a CSV file (user, rank, item, score) instead of printing
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub out: Option<PathBuf>,
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
    /// File of user ids, one per line
    #[arg(long, value_name = "FILE")]
    pub users_file: Option<PathBuf>,
    /// All users; requires --out
    #[arg(long, requires = "out")]
    pub all: bool,
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
    #[arg(short, default_value_t = 20, value_parser = value_parser!(u32).range(1..))]
    pub n: u32,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
