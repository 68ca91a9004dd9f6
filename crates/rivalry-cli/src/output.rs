//! Results go to standard output, everything else to standard error.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use rivalry::data::read::SkippedRows;
use serde::Serialize;

use crate::processes::ToldByRoot;
use crate::signals::{Interrupted, SweepInterrupted};

pub use rivalry_runs::run::quoted;

/// Prints a result.
pub fn print(text: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Prints a result as one JSON document.
pub fn print_json(document: &impl Serialize) -> io::Result<()> {
    print(serde_json::to_string_pretty(document)?)
}

/// Prints a message to standard error. A closed standard error is ignored.
pub fn say(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints an error message to standard error.
pub fn warn(text: impl Display) {
    say(format_args!("error: {text}"));
}

/// Warns about rows of the data that were left out.
pub fn warn_skipped(rows: &SkippedRows) {
    if !rows.is_empty() {
        say(format_args!("warning: {rows}"));
    }
}

/// Reports why a command failed. The exit code is 2 for invalid input, 130 for an interrupted command, 1 for all other
/// errors.
pub fn report(error: &anyhow::Error) -> ExitCode {
    if exit_code(error) == 130 {
        if error.downcast_ref::<ToldByRoot>().is_none() {
            say(error);
        }
        return ExitCode::from(130);
    }
    // A closed pipe, as in `rivalry list losses | head -1`, is not an error.
    let cause = match error.downcast_ref::<rivalry::Error>() {
        Some(rivalry::Error::Io { source, .. }) => Some(source),
        _ => error.downcast_ref::<io::Error>(),
    };
    if cause.is_some_and(|e| e.kind() == ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    // Another process tells what failed.
    if error.downcast_ref::<ToldByRoot>().is_none() {
        warn(error);
    }
    ExitCode::from(exit_code(error))
}

/// The exit code of a command that failed.
pub fn exit_code(error: &anyhow::Error) -> u8 {
    if error.is::<Interrupted>() || error.is::<SweepInterrupted>() {
        return 130;
    }
    if let Some(told) = error.downcast_ref::<ToldByRoot>() {
        return told.code;
    }
    error.downcast_ref::<rivalry::Error>().map_or(1, rivalry::Error::exit_code)
}
