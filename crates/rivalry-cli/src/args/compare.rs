//! `rivalry compare` and `rivalry inspect`

use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};

use super::Machine;
use super::data::seed;

/// `rivalry compare`
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Run folders, or folders that contain runs; runs that differ only in the seed are one method
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Baseline: the name, model or loss of a method, or one of its runs [default: the first method]
    #[arg(long, value_name = "METHOD")]
    pub baseline: Option<String>,
    /// Metrics to compare (default: NDCG@20,Recall@20)
    #[arg(long, value_delimiter = ',', value_name = "METRIC@K,…")]
    pub metric: Vec<String>,
    /// Compare NDCG and Recall at these cut-offs, such as 5,20
    #[arg(short, long, value_delimiter = ',', value_name = "K,…", conflicts_with = "metric")]
    #[arg(value_parser = value_parser!(u32).range(1..))]
    pub k: Vec<u32>,
    /// Bootstrap resamples for the confidence intervals
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = value_parser!(u32).range(100..=1_000_000))]
    pub resamples: u32,
    /// Seed of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed())]
    pub seed: u64,
    /// Output format [default: by the extension of --out (.txt, .md, .tex, .csv, .json), otherwise table]
    #[arg(long, value_enum)]
    pub format: Option<FormatArg>,
    /// Print JSON
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Write to this file instead of printing; '-' for standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Where the runs' data are now [default: where they were]
    #[arg(long, value_name = "NAME|PATH")]
    pub data: Option<String>,
    /// Folder to search first for named data sets
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub machine: Machine,
}

/// The output formats of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// Plain text table
    Table,
    /// Markdown table
    Markdown,
    /// LaTeX table
    Latex,
    /// All figures, one row per method and metric
    Csv,
    /// JSON document, as with --json
    Json,
}

impl FormatArg {
    /// The extension of a file in this format.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Table => "txt",
            Self::Markdown => "md",
            Self::Latex => "tex",
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }
}

/// `rivalry inspect`
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// Run folder
    pub run: PathBuf,
    /// Number of training pairs to inspect
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = value_parser!(u32).range(1..=65_536))]
    pub pairs: u32,
    /// Number of most and least contested pairs to show with their negatives
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u32).range(..=1000))]
    pub slates: u32,
    /// Seed of the sampled pairs and negatives [default: the run's seed]
    #[arg(long, value_name = "N", value_parser = seed())]
    pub seed: Option<u64>,
    /// Write the inspection to this JSON file instead of the run folder, which may then be read-only
    #[arg(short, long, value_name = "FILE")]
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
