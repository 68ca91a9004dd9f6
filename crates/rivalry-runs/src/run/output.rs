//! Results that a user named never take the place of a run's own files.

use std::path::Path;

use rivalry::files::{LOCK_FILE, Output, folder_of};

use super::folder::{CONFIG, FILES};
use crate::reproduce::DEFAULT_PROTOCOL;
use crate::sweep::{FAILED, INDEX, SELECTED};
use crate::{InputError, Result};

/// [`Output::new`], but what belongs to a run or a sweep is refused, even if it may be replaced otherwise.
///
/// # Errors
/// As [`Output::new`], and for the files of a run or a sweep.
pub fn output_to(path: &Path, replace: bool) -> Result<Output> {
    // Checked first, so that the error does not suggest --force, which would not help.
    let output = Output::new(path, true)?;
    match output.file().and_then(owner) {
        Some(owner) => Err(InputError::new(format!("belongs to a {owner}, and is not overwritten"))
            .file(path)
            .help("choose another name")
            .into()),
        None => Output::new(path, replace),
    }
}

/// What a file belongs to.
fn owner(file: &Path) -> Option<&'static str> {
    let name = file.file_name()?.to_str()?;
    let folder = folder_of(file);
    let is_run = |folder: &Path| folder.join(CONFIG).is_file();
    let of_run = FILES.contains(&name) || [LOCK_FILE, FAILED, DEFAULT_PROTOCOL].contains(&name);
    if of_run && is_run(folder) {
        return Some("run");
    }
    let holds_runs = || folder.read_dir().ok()?.flatten().find(|entry| is_run(&entry.path()));
    ([INDEX, SELECTED].contains(&name) && holds_runs().is_some()).then_some("sweep")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_runs_and_sweeps_are_never_outputs() {
        let world = tempfile::tempdir().unwrap();
        let at = |name: &str| world.path().join(name);
        std::fs::create_dir_all(at("sweep/run")).unwrap();
        std::fs::write(at("sweep/run/config.toml"), "").unwrap();
        for name in ["run/config.toml", "run/model.safetensors", "run/checkpoint", "run/.lock", "index.json"]
        {
            for replace in [false, true] {
                let error = output_to(&at("sweep").join(name), replace).unwrap_err().to_string();
                assert!(error.contains(" belongs to a "), "{error}");
            }
        }
        for name in ["sweep/run/recommendations.csv", "index.json", "model.safetensors"] {
            assert!(output_to(&at(name), false).is_ok(), "{name}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("sweep/run/model.safetensors", at("link.csv")).unwrap();
            assert!(output_to(&at("link.csv"), true).is_err());
        }
    }
}
