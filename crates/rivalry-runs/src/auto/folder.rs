//! The names in the folder of a search, and the refusal of a folder that holds anything else.

use std::path::Path;

use rivalry::files::{LOCK_FILE, TEMP_PREFIX};

use crate::{Error, InputError, Result};

/// The trials.
pub(super) const TRIALS: &str = "trials";
/// The best run of each model.
pub(super) const MODELS: &str = "models";
/// The winner, trained on everything.
pub(super) const BEST: &str = "best";
/// The folder in which it is until it is trained.
pub(super) const TRAINING: &str = ".training";
/// The result.
pub(super) const AUTO: &str = "auto.json";
/// The time that is spent, from the beginning on.
pub(super) const SPENT_TIME: &str = "spent.json";
/// The result as a page, which the command writes.
pub const PAGE: &str = "auto.html";
/// The log, where it came from a frame of Python.
const LOG: &str = "log.csv";

/// Refuses a folder that is not that of a search: what is in it could be replaced.
pub(super) fn check(out: &Path) -> Result<()> {
    if !out.is_dir() {
        return Ok(());
    }
    let entries = out.read_dir().map_err(|e| Error::io("read", out, e))?;
    let names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .filter(|name| ![LOCK_FILE, LOG].contains(&&name[..]) && !name.starts_with(TEMP_PREFIX))
        .collect();
    let own = [TRIALS, MODELS, BEST, TRAINING, AUTO, SPENT_TIME, PAGE];
    let begun = names.iter().any(|name| name == SPENT_TIME);
    match names.iter().find(|name| !begun || !own.contains(&&name[..])) {
        None => Ok(()),
        Some(name) => Err(InputError::new(format!("holds '{name}', which is not part of a search"))
            .file(out)
            .help("choose another --out")
            .into()),
    }
}
