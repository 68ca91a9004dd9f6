//! `rivalry reproduce`

use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};

use super::Common;

/// `rivalry reproduce`
#[derive(Debug, Args)]
#[command(
    after_help = "Published settings are used where there are any, and settings found by our own search on the
validation part otherwise. Cells without either are named, with the command that searches. Run the same command again to go on where it stopped.\n
  rivalry reproduce --only health                 # all tables and figures of one data set
  rivalry reproduce --only table1 --only mf       # one table, one backbone
  rivalry reproduce --only noise --only health --loss sl --loss dsl-ca"
)]
pub struct ReproduceArgs {
    /// Only this: table1, table2, ablation, head-tail, noise; a data set (health, electronic, movie, gowalla, …); or a
    /// backbone (mf, lightgcn). May be repeated
    #[arg(long, value_name = "WHAT")]
    pub only: Vec<String>,
    /// Only this loss; may be repeated
    #[arg(long, value_name = "NAME")]
    pub loss: Vec<String>,
    /// Train each cell from so many seeds
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// Epochs instead of the published 200
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub epochs: Option<u32>,
    /// Stop a training after this many evaluations without a better one; as published, none is stopped
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub patience: Option<u32>,
    /// Say what would be done and how long it would take, and stop
    #[arg(long)]
    pub dry_run: bool,
    /// The folder of the trainings; tables.md and tables.json are written there
    #[arg(long, value_name = "DIR", default_value = "runs/reproduce")]
    pub out: PathBuf,
    /// Trainings side by side; without it as many as there are threads
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Where named data sets are looked for first
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

/// The words of `--only` that name a table or a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FigureArg {
    Table1,
    Table2,
    Ablation,
    HeadTail,
    Noise,
}
