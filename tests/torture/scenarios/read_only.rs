//! A disk that is read-only when a training is started or resumed: the command reports it and changes nothing.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Scenario, Tally, names, write_log};
use crate::disk::Disk;
use crate::kill::{end_after, no_panic, rivalry, said, succeed};
use crate::random::Random;

pub const SCENARIO: Scenario = Scenario { name: "`train`, disk read-only", run };

const TRAIN: &[&str] = &[
    "train",
    "--data",
    "log.csv",
    "--loss",
    "sl",
    "--epochs",
    "40",
    "--eval-every",
    "1",
    "--negatives",
    "50",
    "--dim",
    "16",
    "--quiet",
    "--out",
    "run",
];

fn run(random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    let disk = match Disk::new(64 << 10) {
        Ok(disk) => disk,
        Err(why) => {
            tally.skipped = Some(format!("can't mount a tmpfs ({why})"));
            return Ok(());
        }
    };
    write_log(&disk.path().join("log.csv"), 300);
    refused(&disk, rivalry(disk.path(), TRAIN), tally)?;
    end_after(rivalry(disk.path(), TRAIN), "-KILL", random.within(Duration::from_millis(400)));
    let resume = || match disk.path().join("run/config.toml").exists() {
        true => rivalry(disk.path(), &["train", "--resume", "run", "--quiet"]),
        false => rivalry(disk.path(), TRAIN),
    };
    if !disk.path().join("run/metrics.json").exists() {
        refused(&disk, resume(), tally)?;
    }
    succeed(resume())?;
    inspect(&disk, tally)
}

/// A run on a read-only disk is inspected into a file elsewhere.
fn inspect(disk: &Disk, tally: &mut Tally) -> Result<(), String> {
    refused(disk, rivalry(disk.path(), &["inspect", "run", "--pairs", "20"]), tally)?;
    let elsewhere = tempfile::tempdir().map_err(|e| e.to_string())?;
    let file = elsewhere.path().join("inspect.json");
    disk.change("ro")?;
    let inspect = ["inspect", "run", "--pairs", "20", "-o", &file.to_string_lossy()];
    let inspected = succeed(rivalry(disk.path(), &inspect));
    disk.change("rw")?;
    inspected.map(|_| ())
}

/// Checks that the command fails on a read-only disk, says why, and changes no file.
fn refused(disk: &Disk, mut command: Command, tally: &mut Tally) -> Result<(), String> {
    let files = |folder: &Path| (names(folder), names(&folder.join("run")));
    let before = files(disk.path());
    disk.change("ro")?;
    let output = command.output().map_err(|e| e.to_string())?;
    let after = files(disk.path());
    disk.change("rw")?;
    no_panic(&output)?;
    tally.interrupted += 1;
    if output.status.success() || !said(&output).contains("Read-only") {
        return Err(format!("it should say that the disk is read-only: {}", said(&output)));
    }
    if before == after { Ok(()) } else { Err(format!("{before:?} became {after:?}")) }
}
