//! Trainings: ended again and again until they are done, each must end with the bits of one that nobody ended.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{Scene, Tally, names, same, write_log};
use crate::kill::{End, end_after, no_panic, rivalry, said, whole};
use crate::luck::Luck;

pub const KILLED: Scene = Scene { name: "`train`, kill -9", play: killed };
pub const ASKED: Scene = Scene { name: "`train`, SIGTERM, SIGINT or SIGHUP", play: asked };
pub const POWER_CUT: Scene =
    Scene { name: "`train`, kill -9 and the file written last cut short", play: power_cut };

/// The training that nobody ended, made once.
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
        whole(train(folder.path(), &log, "whole")).expect("a training that nobody ends");
        Reference { folder, time: began.elapsed() }
    })
}

/// The same log for all: where the data lie is part of a model's config.
fn train(folder: &Path, log: &Path, out: &str) -> std::process::Command {
    let data = log.to_string_lossy();
    rivalry(folder, &[&["train", "--data", &data, "--out", out], TRAIN].concat())
}

fn killed(luck: &mut Luck, tally: &mut Tally) -> Result<(), String> {
    until_done(luck, tally, &["-KILL"], |_, _| Ok(None))
}

fn asked(luck: &mut Luck, tally: &mut Tally) -> Result<(), String> {
    until_done(luck, tally, &["-TERM", "-INT", "-HUP"], |_, _| Ok(None))
}

fn power_cut(luck: &mut Luck, tally: &mut Tally) -> Result<(), String> {
    until_done(luck, tally, &["-KILL"], |luck, run| {
        let Some(last) = last_written(run) else { return Ok(None) };
        let bytes = fs::metadata(&last).map_err(|e| e.to_string())?.len();
        let file = fs::OpenOptions::new().write(true).open(&last).map_err(|e| e.to_string())?;
        let left = luck.below(bytes as usize + 1) as u64;
        file.set_len(left).map_err(|e| e.to_string())?;
        Ok(Some(Cut { file: last, left }))
    })
}

/// Starts a training, ends it, harms it, resumes it, ends it… until it is done.
fn until_done(
    luck: &mut Luck,
    tally: &mut Tally,
    signals: &[&str],
    harm: impl Fn(&mut Luck, &Path) -> Result<Option<Cut>, String>,
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
        let signal = luck.one_of(signals);
        match end_after(command, signal, luck.within(*time)) {
            End::Ended(output) => {
                tally.ended += 1;
                no_panic(&output)?;
                looks_right(place.path(), &run, &cuts)?;
                cuts.extend(harm(luck, &run)?);
            }
            End::TooLate(output) if output.status.success() => {
                tally.too_late += 1;
                break;
            }
            // Only a config that was cut short can't be gone on with. That is said, and nothing had been learned.
            End::TooLate(output) if said(&output).contains("config.toml") => {
                tally.too_late += 1;
                if run.join("checkpoint").exists() {
                    return Err(said(&output));
                }
                fs::remove_dir_all(&run).map_err(|e| e.to_string())?;
            }
            End::TooLate(output) => return Err(said(&output)),
        }
    }
    let command = match run.join("config.toml").exists() {
        true => rivalry(place.path(), &["train", "--resume", "run", "--quiet"]),
        false => train(place.path(), &log, "run"),
    };
    if let Err(fault) = whole(command) {
        if !fault.contains("config.toml") || run.join("checkpoint").exists() {
            return Err(fault);
        }
        fs::remove_dir_all(&run).map_err(|e| e.to_string())?;
        whole(train(place.path(), &log, "run"))?;
    }
    let reference = folder.path().join("whole");
    same(&run.join("model.safetensors"), &reference.join("model.safetensors"))?;
    let (left, expected) = (names(&run), names(&reference));
    if left == expected { Ok(()) } else { Err(format!("{left:?} is left, not {expected:?}")) }
}

/// A file that we cut short ourselves, and how much of it we left.
struct Cut {
    file: PathBuf,
    left: u64,
}

/// Every file that has its name is whole: the model can be measured, the log read. What we cut and nobody has written
/// since is not held against anyone.
fn looks_right(place: &Path, run: &Path, cuts: &[Cut]) -> Result<(), String> {
    let is_cut = |path: &Path| {
        let bytes = fs::metadata(path).map_or(0, |data| data.len());
        cuts.iter().any(|cut| cut.file == path && cut.left == bytes)
    };
    let (model, log) = (run.join("model.safetensors"), run.join("log.jsonl"));
    if model.exists() && !is_cut(&model) {
        whole(rivalry(place, &["evaluate", "run", "--json"]))?;
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
