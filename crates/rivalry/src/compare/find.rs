//! From what the user names to the folders of runs.

use std::path::{Path, PathBuf};

use crate::experiment::chosen_runs;
use crate::{InputError, Result, run};

/// The run folders among these folders and everything in them, in the order given, within a folder by name; each once. Of
/// the folder of a search those that it chose.
///
/// # Errors
/// If a folder is not there, can't be read, or holds no run.
pub fn find_runs(paths: &[&Path]) -> Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !path.exists() {
            return Err(InputError::new("there is no such folder").file(path).into());
        }
        // Of a search only what it chose is worth comparing, and only of that the models are kept.
        let here = match chosen_runs(path)? {
            Some(chosen) => chosen,
            None if path.is_dir() => run::find_runs(path)?.iter().map(|run| run.path().to_owned()).collect(),
            None => Vec::new(),
        };
        if here.is_empty() {
            return Err(InputError::new("no run, and none in it")
                .file(path)
                .help("give folders that 'rivalry train' made, or a folder of such folders")
                .into());
        }
        found.extend(here);
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    Ok(found)
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
