//! Finding the runs to compare.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::sweep::selected_runs;
use crate::{InputError, Result, run};

/// The run folders in these folders, at any depth; in the order given, within a folder by name, each once. Of a sweep only
/// the selected trials.
///
/// # Errors
/// If a folder does not exist, can't be read, or holds no run.
pub fn runs_to_compare(paths: &[&Path]) -> Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !path.exists() {
            return Err(InputError::new("no such folder").file(path).into());
        }
        let here = if path.is_dir() { runs_in(path)? } else { Vec::new() };
        if here.is_empty() {
            return Err(InputError::new("is not a run and contains none")
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

/// The runs in a folder; of a sweep, at any depth, only the selected trials, because only their models are kept.
fn runs_in(folder: &Path) -> Result<Vec<PathBuf>> {
    if let Some(selected) = selected_runs(folder)? {
        return Ok(selected);
    }
    let mut found: Vec<PathBuf> = run::find_runs(folder)?.iter().map(|run| run.path().to_owned()).collect();
    let parents: BTreeSet<PathBuf> = found.iter().filter_map(|run| Some(run.parent()?.to_owned())).collect();
    for parent in parents {
        if let Some(selected) = selected_runs(&parent)? {
            found.retain(|run| run.parent() != Some(&*parent) || selected.contains(run));
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
        let found = runs_to_compare(&[&b, &a, &again]).unwrap();
        assert_eq!(found, ["b", "a/x/deep", "a/y"].map(|name| world.path().join(name)));
        let error = |name: &str| runs_to_compare(&[&world.path().join(name)]).unwrap_err().to_string();
        assert!(error("c").contains("no such folder") && error("a/no-run").contains("is not a run"));
        assert!(error("b/config.toml").contains("is not a run"));
    }

    #[test]
    fn of_a_nested_sweep_only_the_selected_trials_are_found() {
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
        let found = runs_to_compare(&[world.path()]).unwrap();
        assert_eq!(found, ["alone", "sweep/sl-2"].map(|name| world.path().join(name)));
    }
}
