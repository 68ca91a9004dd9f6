//! The scenarios: what is interrupted, and what must hold afterwards. One file and one line in the list for each.

mod auto;
pub mod download;
mod full_disk;
mod prepare;
mod prepare_full_disk;
mod read_only;
mod sweep;
mod train;
mod update;

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::kill::{no_panic, said};
use crate::random::Random;

/// A command and a way to interrupt it.
pub struct Scenario {
    /// For the table.
    pub name: &'static str,
    /// Interrupts the command once or several times, and checks the result.
    pub run: fn(&mut Random, &mut Tally) -> Result<(), String>,
}

/// The results of a scenario so far.
#[derive(Default)]
pub struct Tally {
    pub interrupted: usize,
    /// How often the command completed before it was interrupted.
    pub completed: usize,
    pub failures: usize,
    /// Why the scenario can't run on this machine.
    pub skipped: Option<String>,
}

pub const SCENARIOS: &[Scenario] = &[
    train::KILLED,
    train::SIGNALLED,
    train::POWER_CUT,
    sweep::SCENARIO,
    auto::SCENARIO,
    update::SCENARIO,
    prepare::SCENARIO,
    download::SCENARIO,
    full_disk::SCENARIO,
    prepare_full_disk::SCENARIO,
    read_only::SCENARIO,
];

/// Writes a log of interactions.
pub fn write_log(path: &Path, users: usize) {
    let mut text = "user,item\n".to_owned();
    for user in 0..users {
        for n in 0..12 {
            text += &format!("u{user},i{}\n", (user * 7 + n * n * 3 + n) % 60);
        }
    }
    fs::write(path, text).expect("a log can be written");
}

/// Counts a command on a disk with little space. Returns whether it ran out of space; then it must have said so.
pub fn out_of_space(output: &Output, tally: &mut Tally) -> Result<bool, String> {
    no_panic(output)?;
    if output.status.success() {
        tally.completed += 1;
        return Ok(false);
    }
    tally.interrupted += 1;
    match said(output).contains("No space left") {
        true => Ok(true),
        false => Err(format!("it should say that the disk is full: {}", said(output))),
    }
}

/// Checks that two files have the same content.
pub fn same(a: &Path, b: &Path) -> Result<(), String> {
    let read = |path: &Path| fs::read(path).map_err(|e| format!("{}: {e}", path.display()));
    if read(a)? == read(b)? { Ok(()) } else { Err(format!("{} and {} differ", a.display(), b.display())) }
}

/// The names of all files in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
