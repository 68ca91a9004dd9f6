//! Starts and interrupts commands.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A `rivalry` command, independent of this machine's data sets.
pub fn rivalry(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rivalry"));
    command.args(args).current_dir(folder).env_remove("RIVALRY_DATA").stdin(Stdio::null());
    command
}

/// How a command ended.
pub enum End {
    /// Before it was interrupted.
    Completed(Output),
    /// By the signal.
    Interrupted(Output),
}

/// Runs a command, and sends it a signal after a delay.
pub fn end_after(mut command: Command, signal: &str, delay: Duration) -> End {
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    let began = Instant::now();
    while began.elapsed() < delay {
        if child.try_wait().expect("its status can be read").is_some() {
            return End::Completed(child.wait_with_output().expect("it ended"));
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    send(&child, signal);
    let output = child.wait_with_output().expect("it ended");
    if output.status.success() { End::Completed(output) } else { End::Interrupted(output) }
}

fn send(child: &Child, signal: &str) {
    // The process may have ended in the meantime.
    let _ = Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status();
}

/// Runs a command that must succeed.
pub fn succeed(mut command: Command) -> Result<Output, String> {
    let output = command.output().map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{:?} failed: {}", command.get_args().collect::<Vec<_>>(), said(&output)))
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

/// Checks that the command did not panic.
pub fn no_panic(output: &Output) -> Result<(), String> {
    let said = said(output);
    if said.contains("internal error") || said.contains("panicked") { Err(said) } else { Ok(()) }
}
