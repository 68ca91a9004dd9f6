//! The `rivalry` command: parses arguments, calls the libraries, prints results, returns an exit code.
#![forbid(unsafe_code)]

mod args;
mod auto_display;
mod commands;
mod comparison;
mod counting;
mod inline_grids;
mod output;
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
use std::sync::{Mutex, PoisonError};

fn main() -> ExitCode {
    // Panics are recorded and reported only if nothing catches them: a decoder that panics on a damaged file is caught,
    // and the error is about the file.
    static PANIC: Mutex<String> = Mutex::new(String::new());
    std::panic::set_hook(Box::new(|panic| {
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
    let cli = args::parse();
    match catch_unwind(AssertUnwindSafe(|| commands::run(&cli.command))) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => output::report(&named_as_given(error, &cli.command)),
        Err(_) => {
            let panic = PANIC.lock().unwrap_or_else(PoisonError::into_inner);
            output::warn(format_args!(
                "internal error; please report it together with the command\n  {panic}"
            ));
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
