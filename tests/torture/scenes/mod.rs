//! What is ended, and what must be true afterwards. One file a scene, one line in the list.

pub mod download;
mod full_disk;
mod prepare;
mod read_only;
mod sweep;
mod train;

use std::fs;
use std::path::Path;

use crate::luck::Luck;

/// One thing that can be ended.
pub struct Scene {
    /// For the table.
    pub name: &'static str,
    /// Ends it once or several times. An error is a loss.
    pub play: fn(&mut Luck, &mut Tally) -> Result<(), String>,
}

/// How often it was ended, and what came of it.
#[derive(Default)]
pub struct Tally {
    pub ended: usize,
    /// It was done before its time came.
    pub too_late: usize,
    pub losses: usize,
    /// Why it can't be played here.
    pub left_out: Option<String>,
}

pub const SCENES: &[Scene] = &[
    train::KILLED,
    train::ASKED,
    train::POWER_CUT,
    sweep::SCENE,
    prepare::SCENE,
    download::SCENE,
    full_disk::SCENE,
    read_only::SCENE,
];

/// A log of interactions that takes a moment to read, and longer to learn.
pub fn write_log(path: &Path, users: usize) {
    let mut text = "user,item\n".to_owned();
    for user in 0..users {
        for n in 0..12 {
            text += &format!("u{user},i{}\n", (user * 7 + n * n * 3 + n) % 60);
        }
    }
    fs::write(path, text).expect("a log can be written");
}

/// Whether two files hold the same bytes.
pub fn same(a: &Path, b: &Path) -> Result<(), String> {
    let read = |path: &Path| fs::read(path).map_err(|e| format!("{}: {e}", path.display()));
    if read(a)? == read(b)? { Ok(()) } else { Err(format!("{} and {} differ", a.display(), b.display())) }
}

/// All names in a folder, in order.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
