//! Prepared data: the folder is the old one or the new one, whole, and nothing else is left after the next time.

use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{Scene, Tally, names, same, write_log};
use crate::kill::{End, end_after, no_panic, rivalry, whole};
use crate::luck::Luck;

pub const SCENE: Scene = Scene { name: "`data prepare --force`, kill -9", play };

const FILES: [&str; 5] = ["train.tsv", "valid.tsv", "test.tsv", "user_list.tsv", "item_list.tsv"];

fn prepare(folder: &Path, seed: &str, out: &str) -> std::process::Command {
    let args = ["data", "prepare", "log.csv", out, "--seed", seed, "--force"];
    rivalry(folder, &args)
}

/// A log, and what comes of it with two seeds.
fn reference() -> &'static (TempDir, Duration) {
    static REFERENCE: OnceLock<(TempDir, Duration)> = OnceLock::new();
    REFERENCE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        write_log(&folder.path().join("log.csv"), 20_000);
        let began = Instant::now();
        for seed in ["0", "1"] {
            whole(prepare(folder.path(), seed, seed)).expect("a preparation that nobody ends");
        }
        (folder, began.elapsed() / 2)
    })
}

fn play(luck: &mut Luck, tally: &mut Tally) -> Result<(), String> {
    let (folder, time) = reference();
    let place = tempfile::tempdir_in(folder.path()).map_err(|e| e.to_string())?;
    let name = place.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let out = format!("{name}/set");
    for turn in 0..10 {
        let seed = ["0", "1"][turn % 2];
        match end_after(prepare(folder.path(), seed, &out), "-KILL", luck.within(*time)) {
            End::Ended(output) => {
                tally.ended += 1;
                no_panic(&output)?;
            }
            End::TooLate(_) => tally.too_late += 1,
        }
        let set = place.path().join("set");
        if set.exists() {
            let is = |seed: &str| {
                FILES.iter().try_for_each(|file| same(&set.join(file), &folder.path().join(seed).join(file)))
            };
            is("0").or_else(|_| is("1"))?;
        }
    }
    whole(prepare(folder.path(), "0", &out))?;
    match names(place.path()) {
        left if left == ["set"] => Ok(()),
        left => Err(format!("{left:?} is left")),
    }
}
