//! `rivalry reproduce`

use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};
use rivalry_runs::sweep::Shard;

use super::Common;

/// `rivalry reproduce`
#[derive(Debug, Args)]
#[command(
    after_help = "Hyperparameters are the published ones where available, and otherwise those tuned by our own
sweeps on the validation set. Cells with neither are listed with the sweep command that tunes
them. Run the same command again to resume.\n
  rivalry reproduce --only health                 # all tables and figures of one data set
  rivalry reproduce --only table1 --only mf       # one table, one model
  rivalry reproduce --only noise --only health --loss sl --loss dsl-ca
  rivalry reproduce --only gowalla --record results        # never train a cell twice, on any machine
  rivalry reproduce --tables-from results --figures figures"
)]
pub struct ReproduceArgs {
    /// Restrict to a table or figure (table1, table2, ablation, head-tail, noise), a data set (health, electronic,
    /// movie, gowalla, …) or a model (mf, lightgcn); repeatable
    #[arg(long, value_name = "WHAT")]
    pub only: Vec<String>,
    /// Restrict to a loss; repeatable
    #[arg(long, value_name = "NAME")]
    pub loss: Vec<String>,
    /// Number of seeds per cell
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// Number of epochs [default: the published 200]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub epochs: Option<u32>,
    /// Stop early after N evaluations without improvement [default: as published, never]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub patience: Option<u32>,
    /// Share negatives by the whole batch instead of drawing them for each pair as published: faster on large data sets, and
    /// the tables say so. Losses with few negatives defer updates instead, which changes results by rounding alone
    #[arg(long)]
    pub fast: bool,
    /// Show the plan and the estimated time, and exit
    #[arg(long)]
    pub dry_run: bool,
    /// Output folder of runs, tables.md and tables.json
    #[arg(long, value_name = "DIR", default_value = "runs/reproduce")]
    pub out: PathBuf,
    /// Folder of records, one small file per finished training: trainings that it has are not run again, and those of
    /// this command are added
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// Make the tables from a folder of records, without training
    #[arg(long, value_name = "DIR", conflicts_with_all = ["record", "dry_run", "out", "epochs", "patience", "jobs", "shard"])]
    pub tables_from: Option<PathBuf>,
    /// Folder for the figures of these tables as SVG: the gain of DSL over SL, the ablation, head and tail items
    #[arg(long, value_name = "DIR", requires = "tables_from")]
    pub figures: Option<PathBuf>,
    /// Trainings to run in parallel [default: number of threads]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Begin with share I of N of the trainings, then take what no other process has begun: for the tasks of an array job, with
    /// --out on a file system that all of them see
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Folder to search first for named data sets
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

/// The values of `--only` that name a table or a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FigureArg {
    Table1,
    Table2,
    Ablation,
    HeadTail,
    Noise,
}
