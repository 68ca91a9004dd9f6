//! `rivalry compare` and `rivalry inspect`

use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};

use super::Machine;
use super::data::seed;

/// `rivalry compare`
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Folders of runs, or folders that hold such folders; runs that differ in their seed alone are one method
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// What the others are held against: a method's name, its loss, or one of its runs; without it the first method
    #[arg(long, value_name = "METHOD")]
    pub baseline: Option<String>,
    /// What to compare by, such as NDCG@20,Recall@20 (the default)
    #[arg(long, value_delimiter = ',', value_name = "METRIC@K,…")]
    pub metric: Vec<String>,
    /// NDCG and Recall at these lengths of list, such as 5,20
    #[arg(short, long, value_delimiter = ',', value_name = "K,…", conflicts_with = "metric")]
    #[arg(value_parser = value_parser!(u32).range(1..))]
    pub k: Vec<u32>,
    /// How often users are drawn anew for the confidence intervals
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = value_parser!(u32).range(100..=1_000_000))]
    pub resamples: u32,
    /// Decides which
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed())]
    pub seed: u64,
    /// How to show the result
    #[arg(long, value_enum, default_value_t = FormatArg::Table)]
    pub format: FormatArg,
    /// Print one JSON document
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Write the result to this file instead of printing it
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace that file if it exists
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Where named data sets are looked for first
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub machine: Machine,
}

/// How a comparison can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// For the terminal
    Table,
    /// For a README or a pull request
    Markdown,
    /// For a paper
    Latex,
    /// For a spreadsheet: all numbers, a line for each method and metric
    Csv,
}

/// `rivalry inspect`
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// The folder of the run
    pub run: PathBuf,
    /// Training pairs to look at
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = value_parser!(u32).range(1..=65_536))]
    pub pairs: u32,
    /// How many of the most and of the least contested pairs to show with their negatives
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u32).range(..=1000))]
    pub slates: u32,
    /// Decides the pairs and the negatives; without it the run's own seed
    #[arg(long, value_name = "N", value_parser = seed())]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub machine: Machine,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}
