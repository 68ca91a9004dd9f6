//! The `rivalry` command: arguments in, results out, and an exit code. What it does is in the library; what it says is here.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod comparison;
mod counting;
mod output;
mod progress;
mod settings;
mod signals;
mod sweeping;
mod table;
mod training;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use clap::Parser;

fn main() -> ExitCode {
    // Told only once it is known that nobody caught it: a decoder that trips over a broken file is caught, and the file
    // is what the user hears of.
    static PANIC: Mutex<String> = Mutex::new(String::new());
    std::panic::set_hook(Box::new(|panic| {
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
    let cli = args::Cli::parse();
    match catch_unwind(AssertUnwindSafe(|| commands::run(&cli.command))) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => output::report(&error),
        Err(_) => {
            let panic = PANIC.lock().unwrap_or_else(PoisonError::into_inner);
            output::warn(format_args!("internal error, please report it with what you ran\n  {panic}"));
            ExitCode::FAILURE
        }
    }
}
