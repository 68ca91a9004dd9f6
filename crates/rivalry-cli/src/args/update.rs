//! `rivalry update`

use std::path::PathBuf;

use clap::{Args, value_parser};

use super::Common;
use super::data::{Layer, ReadArgs};

/// `rivalry update`
#[derive(Debug, Args)]
#[command(
    after_help = "The new run has all interactions of the old one and the new ones, and all of them are for training. Users
and items keep their places, new ones are added. A gradient model goes on from its embeddings; a closed
form is fitted again. The same command gives the same bits."
)]
pub struct UpdateArgs {
    /// Folder of a finished run
    pub run: PathBuf,
    /// Log of new interactions, read as that of the run
    #[arg(value_name = "NEW_LOG", required_unless_present = "from_feedback")]
    pub log: Option<String>,
    /// Feedback that 'rivalry serve --feedback' has collected; repeatable
    #[arg(long, value_name = "FILE")]
    pub from_feedback: Vec<String>,
    /// Epochs of a gradient model [default: a fifth of those it was trained for, at least 3]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub epochs: Option<u32>,
    /// Folder of the new run [default: RUN-update-N]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Overwrite an existing run
    #[arg(long, requires = "out")]
    pub force: bool,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    read: ReadArgs,
}

impl UpdateArgs {
    /// The flags that say how the log is read.
    pub fn read(&self) -> toml::Table {
        let mut layer = Layer::default();
        self.read.put_into(&mut layer);
        let read = layer.0.get("data").and_then(|data| data.get("read")?.as_table().cloned());
        read.unwrap_or_default()
    }
}
