//! `rivalry report`

use std::path::PathBuf;

use clap::Args;

/// `rivalry report`
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A folder with runs in it, at any depth
    pub folder: PathBuf,
    /// The HTML file to write
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
    /// Also write every figure to this folder, as SVG and as PNG
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long)]
    pub force: bool,
    /// Print one JSON document: what was found and what was written
    #[arg(long)]
    pub json: bool,
}
