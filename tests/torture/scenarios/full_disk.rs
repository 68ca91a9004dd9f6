//! A disk that fills up during a training: the command reports it, no file is left half written, and with more space the
//! training resumes to the same result.

use std::path::Path;

use super::{Scenario, Tally, out_of_space, same, write_log};
use crate::disk::Disk;
use crate::kill::{rivalry, succeed};
use crate::random::Random;

pub const SCENARIO: Scenario = Scenario { name: "`train`, disk full", run };

const TRAIN: &[&str] =
    &["--loss", "sl", "--epochs", "6", "--eval-every", "1", "--negatives", "20", "--dim", "16", "--quiet"];

/// The log is on another disk, so that only Rivalry's output fills this one.
fn train(folder: &Path, log: &Path) -> std::process::Command {
    let data = log.to_string_lossy();
    rivalry(folder, &[&["train", "--data", &data, "--out", "run"], TRAIN].concat())
}

fn run(random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    let place = tempfile::tempdir().map_err(|e| e.to_string())?;
    let log = place.path().join("log.csv");
    write_log(&log, 300);
    succeed(train(place.path(), &log))?;
    // From no space at all to more than enough.
    let disk = match Disk::new(4 + random.below(160)) {
        Ok(disk) => disk,
        Err(why) => {
            tally.skipped = Some(format!("can't mount a tmpfs ({why})"));
            return Ok(());
        }
    };
    let output = train(disk.path(), &log).output().map_err(|e| e.to_string())?;
    if !out_of_space(&output, tally)? {
        return Ok(());
    }
    disk.change("size=64m")?;
    let run = disk.path().join("run");
    if run.join("model.safetensors").exists() {
        succeed(rivalry(disk.path(), &["evaluate", "run"]))?;
    }
    let command = match run.join("config.toml").exists() {
        true => rivalry(disk.path(), &["train", "--resume", "run", "--quiet"]),
        false => train(disk.path(), &log),
    };
    succeed(command)?;
    same(&run.join("model.safetensors"), &place.path().join("run/model.safetensors"))
}
