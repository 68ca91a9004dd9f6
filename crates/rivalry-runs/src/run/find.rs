//! Finding runs on disk.

use std::path::Path;

use super::RunFolder;
use super::folder::CONFIG;
use crate::{Error, Result};

/// Every run in a folder and the folders within it, by path. The folder itself may be a run.
///
/// Hidden folders and symbolic links are skipped, so that the search always terminates.
pub fn find_runs(folder: &Path) -> Result<Vec<RunFolder>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in folder.read_dir().map_err(|e| Error::io("read", &folder, e))? {
            let entry = entry.map_err(|e| Error::io("read", &folder, e))?;
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if !hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
        if folder.join(CONFIG).is_file() {
            found.push(RunFolder::open(&folder)?);
        }
    }
    found.sort_by(|a, b| a.path().cmp(b.path()));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::folder::LOG;
    use super::*;
    use rivalry::config::Config;

    fn run(folder: &Path) -> RunFolder {
        let config = Config::from_layers(&["loss.type = 'sl'".parse().unwrap()]).unwrap();
        RunFolder::create(folder, &config, false).unwrap()
    }

    #[test]
    fn runs_are_found_at_any_depth_and_by_path() {
        let world = tempfile::tempdir().unwrap();
        for name in ["b", "a/deep/2", "a/deep/1", ".hidden/run"] {
            run(&world.path().join(name));
        }
        std::fs::create_dir(world.path().join("empty")).unwrap();
        let found = find_runs(world.path()).unwrap();
        let names: Vec<_> = found.iter().map(|run| run.path().strip_prefix(world.path()).unwrap()).collect();
        assert_eq!(names, ["a/deep/1", "a/deep/2", "b"].map(Path::new));
        assert_eq!(find_runs(&world.path().join("b")).unwrap().len(), 1);
        assert!(find_runs(&world.path().join("nowhere")).is_err());
    }

    #[test]
    fn a_broken_line_of_the_log_is_named() {
        let world = tempfile::tempdir().unwrap();
        let folder = run(&world.path().join("run"));
        assert_eq!(folder.log().unwrap(), []);
        let good = r#"{"epoch":5,"loss":1.5,"best":true,"seconds":{"train":1.0,"eval":0.1}}"#;
        std::fs::write(folder.path().join(LOG), format!("{good}\n{good}\n")).unwrap();
        assert_eq!(folder.log().unwrap().len(), 2);
        std::fs::write(folder.path().join(LOG), format!("{good}\n{{\"epoch\":10,\n")).unwrap();
        let error = folder.log().unwrap_err().to_string();
        assert!(error.contains("log.jsonl:2: not a record"), "{error}");
    }

    #[test]
    fn a_fault_in_the_config_names_its_file() {
        let world = tempfile::tempdir().unwrap();
        let folder = run(&world.path().join("run"));
        assert_eq!(folder.config().unwrap().loss_name(), Some("sl"));
        std::fs::write(folder.path().join(CONFIG), "[train]\nepoch = 3").unwrap();
        let error = folder.config().unwrap_err().to_string();
        assert!(error.contains("config.toml") && error.contains("did you mean 'epochs'?"), "{error}");
    }
}
