//! Sweeps: after interruptions every trial is there once, with the results of an uninterrupted sweep.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::{Scenario, Tally, write_log};
use crate::kill::{End, end_after, no_panic, rivalry, succeed};
use crate::random::Random;

pub const SCENARIO: Scenario = Scenario { name: "`sweep`, kill -9", run };

const SEARCH: &str = "
[base]
data.source = 'log.csv'
model.dim = 8
train = { epochs = 9, eval_every = 1, negatives = 50 }
[[grid]]
loss = { type = 'sl', tau = [0.1, 0.2, 0.3] }
optim.lr = [0.1, 0.01]
";

fn sweep(folder: &Path, out: &str) -> std::process::Command {
    rivalry(folder, &["sweep", "search.toml", "--halving", "--quiet", "--json", "--out", out])
}

fn reference() -> &'static (TempDir, Duration) {
    static REFERENCE: OnceLock<(TempDir, Duration)> = OnceLock::new();
    REFERENCE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        write_log(&folder.path().join("log.csv"), 150);
        fs::write(folder.path().join("search.toml"), SEARCH).expect("a search file");
        let began = Instant::now();
        succeed(sweep(folder.path(), "whole")).expect("the uninterrupted sweep succeeds");
        (folder, began.elapsed())
    })
}

fn run(random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    let (folder, time) = reference();
    let out = tempfile::tempdir_in(folder.path()).map_err(|e| e.to_string())?;
    let name = out.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    for _ in 0..30 {
        match end_after(sweep(folder.path(), &name), "-KILL", random.within(*time)) {
            End::Interrupted(output) => {
                tally.interrupted += 1;
                no_panic(&output)?;
            }
            End::Completed(_) => {
                tally.completed += 1;
                break;
            }
        }
    }
    succeed(sweep(folder.path(), &name))?;
    let (whole, interrupted) = (trials(&folder.path().join("whole"))?, trials(out.path())?);
    if whole == interrupted { Ok(()) } else { Err(format!("{interrupted:?}\nis not\n{whole:?}")) }
}

/// Name, state and validation metric of every trial.
fn trials(folder: &Path) -> Result<Vec<[Value; 3]>, String> {
    let text = fs::read_to_string(folder.join("index.json")).map_err(|e| e.to_string())?;
    let index: Vec<Value> = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    Ok(index.iter().map(|trial| ["name", "state", "valid"].map(|key| trial[key].clone())).collect())
}
