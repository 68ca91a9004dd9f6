//! A disk that is full at some moment of a training: it is said, nothing is half written, and with more room the training
//! goes on to the same bits.

use std::path::Path;

use super::{Scene, Tally, same, write_log};
use crate::disk::Disk;
use crate::kill::{no_panic, rivalry, said, whole};
use crate::luck::Luck;

pub const SCENE: Scene = Scene { name: "`train`, disk full", play };

const TRAIN: &[&str] =
    &["--loss", "sl", "--epochs", "6", "--eval-every", "1", "--negatives", "20", "--dim", "16", "--quiet"];

/// The log is elsewhere: only what Rivalry writes is to fill the disk.
fn train(folder: &Path, log: &Path) -> std::process::Command {
    let data = log.to_string_lossy();
    rivalry(folder, &[&["train", "--data", &data, "--out", "run"], TRAIN].concat())
}

fn play(luck: &mut Luck, tally: &mut Tally) -> Result<(), String> {
    let place = tempfile::tempdir().map_err(|e| e.to_string())?;
    let log = place.path().join("log.csv");
    write_log(&log, 300);
    whole(train(place.path(), &log))?;
    // From no room at all to more than enough.
    let disk = match Disk::new(4 + luck.below(160)) {
        Ok(disk) => disk,
        Err(why) => {
            tally.left_out = Some(format!("no disk of its own ({why})"));
            return Ok(());
        }
    };
    let output = train(disk.path(), &log).output().map_err(|e| e.to_string())?;
    no_panic(&output)?;
    if output.status.success() {
        tally.too_late += 1;
        return Ok(());
    }
    tally.ended += 1;
    if !said(&output).contains("No space left") {
        return Err(format!("it should say that the disk is full: {}", said(&output)));
    }
    disk.change("size=64m")?;
    let run = disk.path().join("run");
    if run.join("model.safetensors").exists() {
        whole(rivalry(disk.path(), &["evaluate", "run"]))?;
    }
    let command = match run.join("config.toml").exists() {
        true => rivalry(disk.path(), &["train", "--resume", "run", "--quiet"]),
        false => train(disk.path(), &log),
    };
    whole(command)?;
    same(&run.join("model.safetensors"), &place.path().join("run/model.safetensors"))
}
