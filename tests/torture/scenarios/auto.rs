//! Searches within a time budget: what an interrupted search has found is kept, and the end is no worse.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::{Scenario, Tally, write_log};
use crate::kill::{End, end_after, no_panic, rivalry, succeed};
use crate::random::Random;

pub const SCENARIO: Scenario = Scenario { name: "`auto`, kill -9", run };

/// Kills of one search, whose budget is spent by all of its processes together.
const KILLS: usize = 2;

fn auto(folder: &Path, out: &str) -> std::process::Command {
    rivalry(
        folder,
        &["auto", "log.csv", "--minutes", "0.02", "--threads", "2", "--json", "--quiet", "--out", out],
    )
}

/// A folder with a log, and how long a search of it takes.
fn reference() -> &'static (TempDir, Duration) {
    static REFERENCE: OnceLock<(TempDir, Duration)> = OnceLock::new();
    REFERENCE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        write_log(&folder.path().join("log.csv"), 150);
        let began = Instant::now();
        succeed(auto(folder.path(), "whole")).expect("the uninterrupted search succeeds");
        (folder, began.elapsed())
    })
}

fn run(random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    let (folder, time) = reference();
    let out = tempfile::tempdir_in(folder.path()).map_err(|e| e.to_string())?;
    let name = out.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut best = f64::NEG_INFINITY;
    for _ in 0..KILLS {
        match end_after(auto(folder.path(), &name), "-KILL", random.within(*time)) {
            End::Interrupted(output) => {
                tally.interrupted += 1;
                no_panic(&output)?;
            }
            End::Completed(_) => tally.completed += 1,
        }
        best = best.max(best_trial(&out.path().join("trials")));
    }
    let output = succeed(auto(folder.path(), &name))?;
    let record: Value = serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
    let winner = record["models"][0]["valid"].as_f64().ok_or("no winner")?;
    if winner < best {
        return Err(format!("it ends with {winner}, and an interrupted trial had {best}"));
    }
    let run = record["models"][0]["run"].as_str().ok_or("no run of the winner")?.to_owned();
    succeed(rivalry(out.path(), &["evaluate", &run, "--verify"]))?;
    succeed(rivalry(out.path(), &["recommend", "best", "--user", "u3"]))?;
    Ok(())
}

/// The best validation value that a trial with a result has.
fn best_trial(trials: &Path) -> f64 {
    let value = |folder: fs::DirEntry| -> Option<f64> {
        let text = fs::read_to_string(folder.path().join("metrics.json")).ok()?;
        let metrics: Value = serde_json::from_str(&text).ok()?;
        metrics["valid"].as_object()?.get("NDCG@20")?.as_f64()
    };
    let folders = fs::read_dir(trials).into_iter().flatten().flatten();
    folders.filter_map(value).fold(f64::NEG_INFINITY, f64::max)
}
