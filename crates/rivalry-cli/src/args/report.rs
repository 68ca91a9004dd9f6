//! `rivalry report`

use std::path::PathBuf;

use clap::Args;

use super::Machine;

/// `rivalry report`
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Folder that contains runs, at any depth
    pub folder: PathBuf,
    /// HTML file to write; '-' for standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
    /// Also write each figure to this folder as an SVG file
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
    /// Folder to search first for named data sets, on which selected models are compared
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub machine: Machine,
    /// Overwrite existing files
    #[arg(long)]
    pub force: bool,
    /// Print a JSON document that lists the runs and the files written
    #[arg(long)]
    pub json: bool,
}
