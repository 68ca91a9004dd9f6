//! `rivalry completions`

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::output;

pub fn run(shell: Shell) -> anyhow::Result<()> {
    // Generated in memory: the generator panics if the output is closed.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "rivalry", &mut script);
    output::print(String::from_utf8_lossy(&script).trim_end())?;
    Ok(())
}
