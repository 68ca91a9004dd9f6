//! A disk that is full when data are prepared: the command reports it, and leaves nothing.

use super::{Scenario, Tally, names, out_of_space, write_log};
use crate::disk::Disk;
use crate::kill::{rivalry, succeed};
use crate::random::Random;

pub const SCENARIO: Scenario = Scenario { name: "`data prepare`, disk full", run };

fn run(random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    let place = tempfile::tempdir().map_err(|e| e.to_string())?;
    let log = place.path().join("log.csv");
    write_log(&log, 1000);
    let log = log.to_string_lossy();
    // From no space at all, not even for the lock, to more than enough.
    let kilobytes = 4 * (1 + random.below(40));
    let disk = match Disk::new(kilobytes) {
        Ok(disk) => disk,
        Err(why) => {
            tally.skipped = Some(format!("can't mount a tmpfs ({why})"));
            return Ok(());
        }
    };
    let used = *random.one_of(&[0, kilobytes << 10]);
    std::fs::write(disk.path().join("other"), vec![0; used]).map_err(|e| e.to_string())?;
    // In memory, or in parts on disk.
    let limit = *random.one_of(&["8G", "460K"]);
    let prepare = || rivalry(disk.path(), &["data", "prepare", &log, "set", "--max-memory", limit]);
    let output = prepare().output().map_err(|e| e.to_string())?;
    if !out_of_space(&output, tally)? {
        return Ok(());
    }
    match names(disk.path()) {
        left if left == ["other"] => {}
        left => return Err(format!("{left:?} is left")),
    }
    disk.change("size=64m")?;
    succeed(prepare()).map(|_| ())
}
