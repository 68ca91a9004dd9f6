//! Starting Rivalry, and ending it.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Commands never look at this machine's data sets, and never take long to be quiet.
pub fn rivalry(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rivalry"));
    command.args(args).current_dir(folder).env_remove("RIVALRY_DATA").stdin(Stdio::null());
    command
}

/// How an ended command ended.
pub enum End {
    /// It was done before its time came.
    TooLate(Output),
    /// It was ended.
    Ended(Output),
}

/// Runs a command, and sends it a signal after a while.
pub fn end_after(mut command: Command, signal: &str, delay: Duration) -> End {
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    let began = Instant::now();
    while began.elapsed() < delay {
        if child.try_wait().expect("it can be asked").is_some() {
            return End::TooLate(child.wait_with_output().expect("it ended"));
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    send(&child, signal);
    let output = child.wait_with_output().expect("it ended");
    if output.status.success() { End::TooLate(output) } else { End::Ended(output) }
}

fn send(child: &Child, signal: &str) {
    // The process may have ended in the meantime; then there is nobody to tell.
    let _ = Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status();
}

/// Runs a command to its end, which must be a good one.
pub fn whole(mut command: Command) -> Result<Output, String> {
    let output = command.output().map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{:?} failed: {}", command.get_args().collect::<Vec<_>>(), said(&output)))
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

/// A process that was killed may have said anything; but no process of ours ever panics.
pub fn no_panic(output: &Output) -> Result<(), String> {
    let said = said(output);
    if said.contains("internal error") || said.contains("panicked") { Err(said) } else { Ok(()) }
}
