//! Prepared data: the folder is the complete old one or the complete new one, and the next success leaves nothing else.

use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{Scenario, Tally, names, same, write_log};
use crate::kill::{End, end_after, no_panic, rivalry, succeed};
use crate::random::Random;

pub const SCENARIO: Scenario = Scenario { name: "`data prepare --force`, kill -9", run };

const FILES: [&str; 7] =
    ["train.tsv", "valid.tsv", "test.tsv", "user_list.tsv", "item_list.tsv", "blocks.txt", "checksums.txt"];

/// In memory, or in parts on disk.
const LIMITS: [&str; 2] = ["8G", "4M"];

fn prepare(folder: &Path, seed: &str, limit: &str, out: &str) -> std::process::Command {
    let args = ["data", "prepare", "log.csv", out, "--seed", seed, "--max-memory", limit, "--force"];
    rivalry(folder, &args)
}

/// A log, prepared with two seeds.
fn reference() -> &'static (TempDir, Duration) {
    static REFERENCE: OnceLock<(TempDir, Duration)> = OnceLock::new();
    REFERENCE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        write_log(&folder.path().join("log.csv"), 20_000);
        let began = Instant::now();
        for seed in ["0", "1"] {
            succeed(prepare(folder.path(), seed, LIMITS[0], seed))
                .expect("the uninterrupted preparation succeeds");
        }
        (folder, began.elapsed() / 2)
    })
}

fn run(random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    let (folder, time) = reference();
    let place = tempfile::tempdir_in(folder.path()).map_err(|e| e.to_string())?;
    let name = place.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let out = format!("{name}/set");
    for turn in 0..10 {
        let seed = ["0", "1"][turn % 2];
        let limit = *random.one_of(&LIMITS);
        let command = prepare(folder.path(), seed, limit, &out);
        match end_after(command, "-KILL", random.within(*time)) {
            End::Interrupted(output) => {
                tally.interrupted += 1;
                no_panic(&output)?;
            }
            End::Completed(_) => tally.completed += 1,
        }
        let set = place.path().join("set");
        if set.exists() {
            let is = |seed: &str| {
                FILES.iter().try_for_each(|file| same(&set.join(file), &folder.path().join(seed).join(file)))
            };
            is("0").or_else(|_| is("1"))?;
        }
    }
    let limit = *random.one_of(&LIMITS);
    succeed(prepare(folder.path(), "0", limit, &out))?;
    match names(place.path()) {
        left if left == ["set"] => Ok(()),
        left => Err(format!("{left:?} is left")),
    }
}
