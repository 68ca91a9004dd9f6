//! The `rivalry` command: parses arguments, calls the libraries, prints results, returns an exit code.
#![forbid(unsafe_code)]

mod args;
mod auto_display;
mod commands;
mod comparison;
mod counting;
mod inline_grids;
mod output;
mod panics;
mod prepare_bar;
mod processes;
mod progress;
mod setting_names;
mod settings;
mod signals;
mod standard_input;
mod sweeping;
mod table;
mod training;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

fn main() -> ExitCode {
    panics::record();
    let cli = args::parse();
    match catch_unwind(AssertUnwindSafe(|| commands::run(&cli.command))) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => output::report(&named_as_given(error, &cli.command)),
        Err(_) => {
            panics::report("");
            ExitCode::FAILURE
        }
    }
}

/// The error with its settings named as the user of the command gives them.
fn named_as_given(error: anyhow::Error, command: &args::Command) -> anyhow::Error {
    match error.downcast::<rivalry::Error>() {
        Ok(error) => {
            let names = setting_names::SettingNames::of(command);
            error.rename_settings(&|setting| names.name(setting)).into()
        }
        Err(other) => other,
    }
}
