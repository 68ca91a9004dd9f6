//! Command-line arguments as plain values. Nothing is opened or decided here.

mod auto;
mod compare;
mod data;
mod evaluate;
mod export;
mod flags;
mod ids;
mod list;
mod parse;
mod recommend;
mod report;
mod reproduce;
mod selection;
#[cfg(feature = "serve")]
mod serve;
mod sweep;
mod train;
mod update;

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, value_parser};
use rivalry::data::LoadOptions;
use rivalry::memory::MemoryLimit;

pub use auto::AutoArgs;
pub use compare::{CompareArgs, FormatArg, InspectArgs};
pub use data::{DataCommand, Layer, SourceArgs};
pub use evaluate::{AverageArg, EvaluateArgs, MaskArg, SplitArg};
pub use export::ExportArgs;
pub use flags::flags_by_key;
pub use ids::IdsArgs;
pub use list::{ListArgs, ListKind};
pub use parse::parse;
pub use recommend::{RecommendArgs, SimilarArgs, UsersArgs};
pub use report::ReportArgs;
pub use reproduce::{FigureArg, ReproduceArgs};
#[cfg(feature = "serve")]
pub use serve::ServeArgs;
pub use sweep::SweepArgs;
pub use train::TrainArgs;
pub use update::UpdateArgs;

/// Train, evaluate and compare implicit-feedback recommenders.
#[derive(Debug, Parser)]
#[command(name = "rivalry", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Start with 'rivalry quickstart', or with your own data: rivalry auto FILE")]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train three models on a generated data set and compare them
    Quickstart(QuickstartArgs),
    /// Find the best model for a log within a time budget, and train it on everything
    Auto(Box<AutoArgs>),
    /// Train a model and test it
    Train(Box<TrainArgs>),
    /// Take new interactions, users and items into a finished run
    Update(Box<UpdateArgs>),
    /// Evaluate the model of a run
    Evaluate(EvaluateArgs),
    /// Compare methods with a baseline: means over seeds, differences, confidence intervals, p-values
    Compare(CompareArgs),
    /// Show how the loss of a run weights negatives: temperatures, gradient shares, hardest pairs
    Inspect(InspectArgs),
    /// Recommend items to users
    Recommend(RecommendArgs),
    /// Find the items most similar to an item
    Similar(SimilarArgs),
    /// Write the embeddings of a model, with ids, for vector stores and other tools
    Export(ExportArgs),
    /// Answer requests for recommendations over HTTP, with a page to look at them
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
    /// Search hyperparameters, selecting on the validation set
    Sweep(Box<SweepArgs>),
    /// Reproduce the published tables and figures
    Reproduce(ReproduceArgs),
    /// Train a run again from its record and check that the result is bit-identical
    Rerun(RerunArgs),
    /// Write tables and figures of many runs to one HTML file
    Report(ReportArgs),
    /// Show statistics of a data set, or prepare one
    #[command(subcommand)]
    Data(Box<DataCommand>),
    /// List models, losses, data sets and other choices, with parameters and defaults
    List(ListArgs),
    /// Check this machine: processor, memory, folders, data sets, and small trainings with known results
    Doctor(DoctorArgs),
    /// Print a shell completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages: rivalry.1, and a page for each command
    Man {
        /// The folder
        folder: PathBuf,
    },
}

/// Resource limits of a command that trains or ranks.
#[derive(Debug, Args)]
pub struct Machine {
    /// Number of threads (0 = all cores); results don't depend on it
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = value_parser!(u16).range(..=1024))]
    pub threads: u16,
    /// Memory limit, such as 4G; larger jobs are refused [default: free memory]
    #[arg(long, value_name = "SIZE", value_parser = memory_size)]
    pub max_memory: Option<u64>,
}

impl Machine {
    /// The memory limit.
    pub fn memory(&self) -> MemoryLimit {
        self.max_memory.map_or_else(MemoryLimit::default, MemoryLimit::bytes)
    }

    /// Where to look for named data sets, and the memory limit.
    pub fn load_options(&self, data_dir: Option<&Path>) -> LoadOptions {
        LoadOptions { data_dir: data_dir.map(Path::to_owned), memory: self.memory(), standard_input: None }
    }
}

fn memory_size(text: &str) -> Result<u64, String> {
    rivalry::memory::parse_size(text).ok_or_else(|| "expected a size such as 800M, 4G or 1.5 GB".to_owned())
}

/// Options of every command that trains.
#[derive(Debug, Args)]
pub struct Common {
    #[command(flatten)]
    pub machine: Machine,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print nothing but the result
    #[arg(short, long)]
    pub quiet: bool,
}

/// `rivalry quickstart`
#[derive(Debug, Args)]
pub struct QuickstartArgs {
    /// Output folder of the runs [default: runs/quickstart-N]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Overwrite existing runs
    #[arg(long, requires = "out")]
    pub force: bool,
    #[command(flatten)]
    pub common: Common,
}

/// `rivalry rerun`
#[derive(Debug, Args)]
pub struct RerunArgs {
    /// Run folder
    pub run: PathBuf,
    /// Keep the new run in this folder [default: discard it]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Where the run's data are now [default: where they were]
    #[arg(long, value_name = "NAME|PATH")]
    pub data: Option<String>,
    /// Folder to search first for named data sets
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

/// `rivalry doctor`
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Folder to search first for named data sets
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
