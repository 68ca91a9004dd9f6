//! The `rivalry` command: arguments in, results out, and an exit code. What it does is in the library; what it says is here.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod comparison;
mod counting;
mod experiment;
mod output;
mod progress;
mod settings;
mod signals;
mod table;
mod training;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        output::warn(format_args!("internal error, please report it with what you ran\n  {panic}"));
    }));
    let cli = args::Cli::parse();
    match catch_unwind(AssertUnwindSafe(|| commands::run(&cli.command))) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => output::report(&error),
        Err(_) => ExitCode::FAILURE,
    }
}
