//! What can be said on the command line, as plain values. Nothing is opened or decided here.

mod compare;
mod data;
mod report;
mod reproduce;
mod sweep;
mod train;

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use rivalry::data::LoadOptions;
use rivalry::memory::MemoryLimit;

pub use compare::{CompareArgs, FormatArg, InspectArgs};
pub use data::{DataCommand, Layer, SourceArgs};
pub use report::ReportArgs;
pub use reproduce::{FigureArg, ReproduceArgs};
pub use sweep::SweepArgs;
pub use train::TrainArgs;

/// Train, evaluate and compare recommenders whose loss learns from the competition between items.
#[derive(Debug, Parser)]
#[command(name = "rivalry", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Start with 'rivalry quickstart', or with your own data: rivalry train --data FILE")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train SL and DSL on an embedded data set and compare them
    Quickstart(QuickstartArgs),
    /// Train a model, choose its best epoch and test it
    Train(Box<TrainArgs>),
    /// Measure the model of a run
    Evaluate(EvaluateArgs),
    /// Hold methods against each other: means over seeds, differences, and how sure they are
    Compare(CompareArgs),
    /// Look inside the loss of a run: what it does to the competition between items
    Inspect(InspectArgs),
    /// The best items for users of a run
    Recommend(RecommendArgs),
    /// The items most like one item of a run
    Similar(SimilarArgs),
    /// Try many settings, choose on validation, and go on where it stopped
    Sweep(Box<SweepArgs>),
    /// Train the cells of the published tables and set them beside the published figures
    Reproduce(ReproduceArgs),
    /// Train a run again from its record, and say whether every bit agrees
    Rerun(RerunArgs),
    /// Write tables and figures of many runs to one HTML file
    Report(ReportArgs),
    /// Look at data and prepare them
    #[command(subcommand)]
    Data(Box<DataCommand>),
    /// What there is to choose from, with parameters and defaults
    List(ListArgs),
    /// Check this machine: processor, memory, folders, data sets, and small trainings of known outcome
    Doctor(DoctorArgs),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// What every command that trains or ranks may take of the machine.
#[derive(Debug, Args)]
pub struct Machine {
    /// Threads to use; 0 means all cores. They change the time, never the result
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = value_parser!(u16).range(..=1024))]
    pub threads: u16,
    /// Refuse what would need more memory than this, such as 4G; without it more than is free
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
        LoadOptions { data_dir: data_dir.map(Path::to_owned), memory: self.memory() }
    }
}

fn memory_size(text: &str) -> Result<u64, String> {
    rivalry::memory::parse_size(text).ok_or_else(|| "expected a size such as 800M, 4G or 1.5 GB".to_owned())
}

/// What every command that trains takes.
#[derive(Debug, Args)]
pub struct Common {
    #[command(flatten)]
    pub machine: Machine,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    /// Print nothing but the result
    #[arg(short, long)]
    pub quiet: bool,
}

/// `rivalry quickstart`
#[derive(Debug, Args)]
pub struct QuickstartArgs {
    /// The folder for both runs; without it the first free of runs/quickstart-1, -2, …
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the runs in that folder
    #[arg(long, requires = "out")]
    pub force: bool,
    #[command(flatten)]
    pub common: Common,
}

/// `rivalry evaluate`
#[derive(Debug, Args)]
pub struct EvaluateArgs {
    /// The folder of the run
    pub run: PathBuf,
    /// Lengths of list to measure at, such as 5,20; without it the run's own
    #[arg(long, value_delimiter = ',', value_name = "K,…")]
    pub k: Vec<usize>,
    /// The part to measure on
    #[arg(long, value_enum, default_value_t = SplitArg::Test)]
    pub split: SplitArg,
    /// What may not be recommended at test time; without it as the run's config says
    #[arg(long, value_enum)]
    pub mask: Option<MaskArg>,
    /// Over whom the mean is taken; without it as the run's config says
    #[arg(long, value_enum)]
    pub average: Option<AverageArg>,
    /// Also write each user's values to this CSV file, with the original user ids
    #[arg(long, value_name = "FILE")]
    pub per_user: Option<PathBuf>,
    /// Replace that file if it exists
    #[arg(long, requires = "per_user")]
    pub force: bool,
    /// Also measure the most and the least popular fifth of the items apart
    #[arg(long)]
    pub buckets: bool,
    /// Also measure coverage, popularity and Gini of the lists
    #[arg(long)]
    pub beyond: bool,
    /// Compute every list and every figure again, plainly and in f64, and fail if one is not right. Slow
    #[arg(long)]
    pub verify: bool,
    /// Where named data sets are looked for first
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub machine: Machine,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// The parts that can be measured on.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SplitArg {
    /// What is reported
    Test,
    /// What epochs and settings are chosen on
    Valid,
}

/// The masks.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum MaskArg {
    /// Training items
    Train,
    /// Training and validation items
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

/// `rivalry rerun`
#[derive(Debug, Args)]
pub struct RerunArgs {
    /// The folder of the run
    pub run: PathBuf,
    /// Keep the repetition in this folder; without it nothing is kept
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Where named data sets are looked for first
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

/// `rivalry recommend`
#[derive(Debug, Args)]
#[group(skip)]
pub struct RecommendArgs {
    /// The folder of the run, or a model file
    pub run: PathBuf,
    #[command(flatten)]
    pub users: UsersArgs,
    /// Items for each user
    #[arg(short, default_value_t = 20, value_parser = value_parser!(u32).range(1..))]
    pub n: u32,
    /// Write a CSV file (user, rank, item, score) instead of printing
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub out: Option<PathBuf>,
    /// Replace that file if it exists
    #[arg(long, requires = "out")]
    pub force: bool,
    #[command(flatten)]
    pub machine: Machine,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// For whom.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct UsersArgs {
    /// Original ids of users
    #[arg(long, value_name = "ID", num_args = 1.., allow_negative_numbers = true)]
    pub user: Vec<String>,
    /// A file of original user ids, one a line
    #[arg(long, value_name = "FILE")]
    pub users_file: Option<PathBuf>,
    /// Every user; needs --out
    #[arg(long, requires = "out")]
    pub all: bool,
}

/// `rivalry similar`
#[derive(Debug, Args)]
pub struct SimilarArgs {
    /// The folder of the run, or a model file
    pub run: PathBuf,
    /// Original id of the item
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    pub item: String,
    /// How many items
    #[arg(short, default_value_t = 20, value_parser = value_parser!(u32).range(1..))]
    pub n: u32,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `rivalry doctor`
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Where named data sets are looked for first
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `rivalry list`
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Of what
    #[arg(value_enum)]
    pub kind: ListKind,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// The lists.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ListKind {
    /// Models (--model)
    Models,
    /// Models that are trained by sampled gradients
    #[value(hide = true)]
    Backbones,
    /// Losses of the models that are trained by gradients (--loss)
    Losses,
    /// Negative samplers (sampler.type)
    Samplers,
    /// Optimisers (optim.type)
    Optimizers,
    /// Data sets that have a name (--data)
    Datasets,
    /// What is measured
    Metrics,
    /// How a test part comes about (--split)
    Splits,
    /// How a validation part comes about (--validation)
    Validations,
    /// What files can be read (--format)
    Formats,
}
