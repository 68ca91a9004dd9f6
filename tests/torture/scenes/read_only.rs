//! A disk that may not be written to, before a training begins or before it is resumed: it is said, and nothing changes.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Scene, Tally, names, write_log};
use crate::disk::Disk;
use crate::kill::{end_after, no_panic, rivalry, said, whole};
use crate::luck::Luck;

pub const SCENE: Scene = Scene { name: "`train`, disk read-only", play };

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

fn play(luck: &mut Luck, tally: &mut Tally) -> Result<(), String> {
    let disk = match Disk::new(64 << 10) {
        Ok(disk) => disk,
        Err(why) => {
            tally.left_out = Some(format!("no disk of its own ({why})"));
            return Ok(());
        }
    };
    write_log(&disk.path().join("log.csv"), 300);
    refused(&disk, rivalry(disk.path(), TRAIN), tally)?;
    end_after(rivalry(disk.path(), TRAIN), "-KILL", luck.within(Duration::from_millis(400)));
    let resume = || match disk.path().join("run/config.toml").exists() {
        true => rivalry(disk.path(), &["train", "--resume", "run", "--quiet"]),
        false => rivalry(disk.path(), TRAIN),
    };
    if !disk.path().join("run/metrics.json").exists() {
        refused(&disk, resume(), tally)?;
    }
    whole(resume()).map(|_| ())
}

/// While the disk is read-only, the command fails, says why, and leaves everything as it was.
fn refused(disk: &Disk, mut command: Command, tally: &mut Tally) -> Result<(), String> {
    let files = |folder: &Path| (names(folder), names(&folder.join("run")));
    let before = files(disk.path());
    disk.change("ro")?;
    let output = command.output().map_err(|e| e.to_string())?;
    let after = files(disk.path());
    disk.change("rw")?;
    no_panic(&output)?;
    tally.ended += 1;
    if output.status.success() || !said(&output).contains("Read-only") {
        return Err(format!("it should say that the disk is read-only: {}", said(&output)));
    }
    if before == after { Ok(()) } else { Err(format!("{before:?} became {after:?}")) }
}
