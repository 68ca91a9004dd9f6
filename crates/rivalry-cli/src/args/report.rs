//! `rivalry report`

use std::path::PathBuf;

use clap::Args;

/// `rivalry report`
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Folder that contains runs, at any depth
    pub folder: PathBuf,
    /// HTML file to write
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
    /// Also write each figure as an image file to this folder
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long)]
    pub force: bool,
    /// Print a summary as JSON: what was found and what was written
    #[arg(long)]
    pub json: bool,
}
