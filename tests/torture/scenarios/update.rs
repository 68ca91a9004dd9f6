//! Updates: the old run stays as it is, and the same command ends with the bits of an update that was not interrupted.

use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{Scenario, Tally, names, same, write_log};
use crate::kill::{End, end_after, no_panic, rivalry, succeed};
use crate::random::Random;

pub const SCENARIO: Scenario = Scenario { name: "`update`, kill -9", run };

fn update(folder: &Path, out: &str) -> std::process::Command {
    rivalry(folder, &["update", "run", "new.csv", "--quiet", "--force", "--out", out])
}

/// A run, a log to update it with, and an update that was not interrupted, with its time.
fn reference() -> &'static (TempDir, Duration) {
    static REFERENCE: OnceLock<(TempDir, Duration)> = OnceLock::new();
    REFERENCE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        write_log(&path.join("log.csv"), 300);
        write_log(&path.join("new.csv"), 400);
        let train = ["train", "--data", "log.csv", "--split", "none", "--dim", "8", "--negatives", "50"];
        let train = [&train[..], &["--epochs", "10", "--quiet", "--out", "run"]].concat();
        succeed(rivalry(path, &train)).expect("the training succeeds");
        std::fs::copy(path.join("run/model.safetensors"), path.join("before")).expect("a copy");
        let began = Instant::now();
        succeed(update(path, "whole")).expect("the uninterrupted update succeeds");
        (folder, began.elapsed())
    })
}

fn run(random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    let (folder, time) = reference();
    let path = folder.path();
    match end_after(update(path, "next"), "-KILL", random.within(*time)) {
        End::Interrupted(output) => {
            tally.interrupted += 1;
            no_panic(&output)?;
        }
        End::Completed(_) => tally.completed += 1,
    }
    same(&path.join("run/model.safetensors"), &path.join("before"))?;
    // The same command again, in the same folder: it ends with the bits of an update that was not interrupted.
    succeed(update(path, "next"))?;
    same(&path.join("next/model.safetensors"), &path.join("whole/model.safetensors"))?;
    let (left, expected) = (names(&path.join("next")), names(&path.join("whole")));
    if left == expected { Ok(()) } else { Err(format!("{left:?} instead of {expected:?}")) }
}
