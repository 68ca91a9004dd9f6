//! `rivalry export`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rivalry::vectors::VectorFormat;

/// `rivalry export`
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Run folder or model file
    pub run: PathBuf,
    /// Format of the embeddings
    #[arg(long, value_name = "FORMAT")]
    pub to: ExportFormat,
    /// Folder to write to [default: the name of the run, with -vectors]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long)]
    pub force: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A format of embeddings.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ExportFormat {
    /// users.npy and items.npy, with ids in users.csv and items.csv
    Npy,
    /// users.parquet and items.parquet: id, vector
    Parquet,
    /// embeddings.safetensors: users, items, ids
    Safetensors,
    /// items.usearch: an HNSW index for USearch, with ids in items.csv; users.npy and users.csv
    UsearchHnsw,
}

impl From<ExportFormat> for VectorFormat {
    fn from(format: ExportFormat) -> Self {
        match format {
            ExportFormat::Npy => Self::Npy,
            ExportFormat::Parquet => Self::Parquet,
            ExportFormat::Safetensors => Self::Safetensors,
            ExportFormat::UsearchHnsw => Self::UsearchHnsw,
        }
    }
}
