//! Trainings: interrupted and resumed until they finish, they must be bit-identical to an uninterrupted one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{Scenario, Tally, names, same, write_log};
use crate::kill::{End, end_after, no_panic, rivalry, said, succeed};
use crate::random::Random;

pub const KILLED: Scenario = Scenario { name: "`train`, kill -9", run: killed };
pub const SIGNALLED: Scenario = Scenario { name: "`train`, SIGTERM, SIGINT or SIGHUP", run: signalled };
pub const POWER_CUT: Scenario =
    Scenario { name: "`train`, kill -9 and the file written last cut short", run: power_cut };

/// The uninterrupted training, made once.
struct Reference {
    folder: TempDir,
    time: Duration,
}

const TRAIN: &[&str] =
    &["--loss", "dsl", "--epochs", "30", "--eval-every", "1", "--negatives", "100", "--dim", "16", "--quiet"];

fn reference() -> &'static Reference {
    static REFERENCE: OnceLock<Reference> = OnceLock::new();
    REFERENCE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log.csv");
        write_log(&log, 300);
        let began = Instant::now();
        succeed(train(folder.path(), &log, "whole")).expect("the uninterrupted training succeeds");
        Reference { folder, time: began.elapsed() }
    })
}

/// All use the same log: its path is part of the config and so of the model file.
fn train(folder: &Path, log: &Path, out: &str) -> std::process::Command {
    let data = log.to_string_lossy();
    rivalry(folder, &[&["train", "--data", &data, "--out", out], TRAIN].concat())
}

fn killed(random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    until_done(random, tally, &["-KILL"], |_, _| Ok(None))
}

fn signalled(random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    until_done(random, tally, &["-TERM", "-INT", "-HUP"], |_, _| Ok(None))
}

fn power_cut(random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    until_done(random, tally, &["-KILL"], |random, run| {
        let Some(last) = last_written(run) else { return Ok(None) };
        let bytes = fs::metadata(&last).map_err(|e| e.to_string())?.len();
        let file = fs::OpenOptions::new().write(true).open(&last).map_err(|e| e.to_string())?;
        let left = random.below(bytes as usize + 1) as u64;
        file.set_len(left).map_err(|e| e.to_string())?;
        Ok(Some(Cut { file: last, left }))
    })
}

/// Interrupts, damages and resumes a training until it finishes.
fn until_done(
    random: &mut Random,
    tally: &mut Tally,
    signals: &[&str],
    damage: impl Fn(&mut Random, &Path) -> Result<Option<Cut>, String>,
) -> Result<(), String> {
    let Reference { folder, time } = reference();
    let place = tempfile::tempdir().map_err(|e| e.to_string())?;
    let log = folder.path().join("log.csv");
    let run = place.path().join("run");
    let mut cuts: Vec<Cut> = Vec::new();
    for _ in 0..40 {
        let command = if run.join("config.toml").exists() {
            rivalry(place.path(), &["train", "--resume", "run", "--quiet"])
        } else {
            train(place.path(), &log, "run")
        };
        let signal = random.one_of(signals);
        match end_after(command, signal, random.within(*time)) {
            End::Interrupted(output) => {
                tally.interrupted += 1;
                no_panic(&output)?;
                files_are_complete(place.path(), &run, &cuts)?;
                cuts.extend(damage(random, &run)?);
            }
            End::Completed(output) if output.status.success() => {
                tally.completed += 1;
                break;
            }
            // Only a run with a truncated config can't be resumed. It must say so, and have no checkpoint to lose.
            End::Completed(output) if said(&output).contains("config.toml") => {
                tally.completed += 1;
                if run.join("checkpoint").exists() {
                    return Err(said(&output));
                }
                fs::remove_dir_all(&run).map_err(|e| e.to_string())?;
            }
            End::Completed(output) => return Err(said(&output)),
        }
    }
    let command = match run.join("config.toml").exists() {
        true => rivalry(place.path(), &["train", "--resume", "run", "--quiet"]),
        false => train(place.path(), &log, "run"),
    };
    if let Err(fault) = succeed(command) {
        if !fault.contains("config.toml") || run.join("checkpoint").exists() {
            return Err(fault);
        }
        fs::remove_dir_all(&run).map_err(|e| e.to_string())?;
        succeed(train(place.path(), &log, "run"))?;
    }
    let reference = folder.path().join("whole");
    same(&run.join("model.safetensors"), &reference.join("model.safetensors"))?;
    let (left, expected) = (names(&run), names(&reference));
    if left == expected { Ok(()) } else { Err(format!("{left:?} is left, not {expected:?}")) }
}

/// A file that was truncated by this test, and the bytes left.
struct Cut {
    file: PathBuf,
    left: u64,
}

/// Checks that every file is complete: the model can be evaluated, the log read. Files that this test truncated and that
/// were not written since are skipped.
fn files_are_complete(place: &Path, run: &Path, cuts: &[Cut]) -> Result<(), String> {
    let is_cut = |path: &Path| {
        let bytes = fs::metadata(path).map_or(0, |data| data.len());
        cuts.iter().any(|cut| cut.file == path && cut.left == bytes)
    };
    let (model, log) = (run.join("model.safetensors"), run.join("log.jsonl"));
    if model.exists() && !is_cut(&model) {
        succeed(rivalry(place, &["evaluate", "run", "--json"]))?;
    }
    let log = if is_cut(&log) { String::new() } else { fs::read_to_string(log).unwrap_or_default() };
    match log.lines().find(|line| serde_json::from_str::<serde_json::Value>(line).is_err()) {
        Some(line) => Err(format!("the log has the line {line}")),
        None => Ok(()),
    }
}

fn last_written(run: &Path) -> Option<PathBuf> {
    let files = names(run).into_iter().filter(|name| name != ".lock").map(|name| run.join(name));
    files.max_by_key(|path| fs::metadata(path).and_then(|data| data.modified()).ok())
}
