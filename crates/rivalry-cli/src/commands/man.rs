//! `rivalry man`

use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;

use crate::args::Cli;
use crate::output::print;

/// Writes a manual page for the command and one for each of its subcommands.
pub fn run(folder: &Path) -> anyhow::Result<()> {
    let written =
        std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    written.with_context(|| format!("{}: the manual pages can't be written", folder.display()))?;
    print(folder.join("rivalry.1").display())?;
    Ok(())
}
