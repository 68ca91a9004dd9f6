//! Results go to standard output, everything else to standard error. Neither may take the program down.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use serde::Serialize;

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

/// Says something that is not a result. If nobody can hear it, so be it.
pub fn say(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Says that something is wrong.
pub fn warn(text: impl Display) {
    say(format_args!("error: {text}"));
}

/// Tells the user why the command failed, and the system by the exit code: 2 for what they can mend by giving something
/// else, 130 if they stopped it, 1 for the rest.
pub fn report(error: &anyhow::Error) -> ExitCode {
    if let Some(interrupted) = error.downcast_ref::<Interrupted>() {
        say(interrupted);
        return ExitCode::from(130);
    }
    if let Some(interrupted) = error.downcast_ref::<SweepInterrupted>() {
        say(interrupted);
        return ExitCode::from(130);
    }
    // Whoever reads our output has seen enough: `rivalry list losses | head -1`.
    if error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    warn(error);
    ExitCode::from(error.downcast_ref::<rivalry::Error>().map_or(1, rivalry::Error::exit_code))
}
