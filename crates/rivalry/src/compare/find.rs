//! From what the user names to the folders of runs.

use std::path::{Path, PathBuf};

use crate::{Error, InputError, Result};

/// The run folders among these folders and everything in them, in the order given, within a folder by name; each once.
///
/// # Errors
/// If a folder is not there, can't be read, or holds no run.
pub fn find_runs(paths: &[&Path]) -> Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !path.exists() {
            return Err(InputError::new("there is no such folder").file(path).into());
        }
        let before = found.len();
        walk(path, &mut found)?;
        if found.len() == before {
            return Err(InputError::new("no run, and none in it")
                .file(path)
                .help("give folders that 'rivalry train' made, or a folder of such folders")
                .into());
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    Ok(found)
}

fn walk(path: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    if path.join("config.toml").is_file() {
        found.push(path.to_owned());
        return Ok(());
    }
    if !path.is_dir() {
        return Ok(());
    }
    let fail = |e| Error::io("read", path, e);
    let mut inner: Vec<PathBuf> = Vec::new();
    for entry in path.read_dir().map_err(fail)? {
        let entry = entry.map_err(fail)?;
        // A link to a folder above would be followed for ever.
        if entry.file_type().map_err(fail)?.is_dir() {
            inner.push(entry.path());
        }
    }
    inner.sort();
    inner.iter().try_for_each(|folder| walk(folder, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_at_any_depth_in_order_and_once() {
        let world = tempfile::tempdir().unwrap();
        for run in ["b", "a/y", "a/x/deep", "a/no-run"] {
            std::fs::create_dir_all(world.path().join(run)).unwrap();
        }
        for run in ["b", "a/y", "a/x/deep"] {
            std::fs::write(world.path().join(run).join("config.toml"), "").unwrap();
        }
        let [b, a, again] = ["b", "a", "a/y"].map(|name| world.path().join(name));
        let found = find_runs(&[&b, &a, &again]).unwrap();
        assert_eq!(found, ["b", "a/x/deep", "a/y"].map(|name| world.path().join(name)));
        let error = |name: &str| find_runs(&[&world.path().join(name)]).unwrap_err().to_string();
        assert!(error("c").contains("no such folder") && error("a/no-run").contains("no run"));
    }
}
