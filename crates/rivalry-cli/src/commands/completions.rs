//! `rivalry completions`

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::output;

pub fn run(shell: Shell) -> anyhow::Result<()> {
    // Not straight to the output: the generator would panic if that were closed.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "rivalry", &mut script);
    output::print(String::from_utf8_lossy(&script).trim_end())?;
    Ok(())
}
