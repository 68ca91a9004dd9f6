//! From what the user names to the folders of runs.

use std::collections::BTreeSet;
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
        let here = if path.is_dir() { runs_in(path)? } else { Vec::new() };
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

/// The runs in a folder. Of a search, wherever it is, only what it chose is worth comparing, and only of that the models
/// are kept.
fn runs_in(folder: &Path) -> Result<Vec<PathBuf>> {
    if let Some(chosen) = chosen_runs(folder)? {
        return Ok(chosen);
    }
    let mut found: Vec<PathBuf> = run::find_runs(folder)?.iter().map(|run| run.path().to_owned()).collect();
    let parents: BTreeSet<PathBuf> = found.iter().filter_map(|run| Some(run.parent()?.to_owned())).collect();
    for parent in parents {
        if let Some(chosen) = chosen_runs(&parent)? {
            found.retain(|run| run.parent() != Some(&*parent) || chosen.contains(run));
        }
    }
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
        assert!(error("b/config.toml").contains("no run"));
    }

    #[test]
    fn of_a_search_within_only_what_it_chose_is_found() {
        let world = tempfile::tempdir().unwrap();
        for run in ["alone", "sweep/sl-1", "sweep/sl-2"] {
            std::fs::create_dir_all(world.path().join(run)).unwrap();
            std::fs::write(world.path().join(run).join("config.toml"), "").unwrap();
        }
        let seed =
            r#"{ "name": "sl-2", "settings": {}, "state": "finished", "valid": 0.1, "outcome": null }"#;
        let head = r#""data": "d", "backbone": "mf", "loss": "sl", "settings": {}, "tried": 2"#;
        let chosen = format!(r#"[{{ {head}, "seeds": [{seed}] }}]"#);
        std::fs::write(world.path().join("sweep/chosen.json"), chosen).unwrap();
        let found = find_runs(&[world.path()]).unwrap();
        assert_eq!(found, ["alone", "sweep/sl-2"].map(|name| world.path().join(name)));
    }
}
