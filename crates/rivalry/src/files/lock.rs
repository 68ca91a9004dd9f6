//! One writer for a folder. The system itself keeps the lock, so one that died, however it died, holds nothing.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::{Error, InputError, Result};

/// The file that is locked. What stands in it says who has it, for whoever comes second.
pub const LOCK: &str = ".lock";

/// A folder that nobody else writes to until this is dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Takes the lock of a folder; if another process has it, an error that names the process.
    pub fn take(folder: &Path) -> Result<Self> {
        match Self::try_take(folder)? {
            Ok(lock) => Ok(lock),
            Err(holder) => Err(InputError::new(format!("is being written to by {holder}"))
                .file(folder)
                .help("wait until that one has ended, or choose another folder")
                .into()),
        }
    }

    /// Takes the lock of a folder, or says who has it.
    pub fn try_take(folder: &Path) -> Result<Result<Self, String>> {
        let path = folder.join(LOCK);
        let fail = |e| Error::io("lock", &path, e);
        loop {
            let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = open.map_err(fail)?;
            match file.try_lock() {
                Ok(()) if !is_at(&file, &path) => continue, // its last holder took it away in the meantime
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let mut holder = String::new();
                    let known = file.read_to_string(&mut holder).is_ok() && !holder.trim().is_empty();
                    return Ok(Err(if known {
                        holder.trim().to_owned()
                    } else {
                        "another process".to_owned()
                    }));
                }
                Err(TryLockError::Error(e)) => return Err(fail(e)),
            }
            file.set_len(0).map_err(fail)?;
            writeln!(file, "process {} on {}", std::process::id(), host()).map_err(fail)?;
            return Ok(Ok(Self { path, _file: file }));
        }
    }
}

impl Drop for Lock {
    /// Leaves no file behind. It goes while it is still locked, so nobody can have taken it in between.
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether an open file is the one at that path.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(there)) => (open.dev(), open.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// The name of this machine: folders may be shared by several.
fn host() -> String {
    let known = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let known =
        known.or_else(|| std::env::var("HOSTNAME").ok()).or_else(|| std::env::var("COMPUTERNAME").ok());
    known
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .unwrap_or("this machine".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_who_has_it_and_gets_it_when_the_first_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let first = Lock::take(folder.path()).unwrap();
        let error = Lock::take(folder.path()).unwrap_err().to_string();
        assert!(error.contains(&format!("process {} on ", std::process::id())), "{error}");
        drop(first);
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "nothing is left");
        // What a process that died left behind is in nobody's way.
        std::fs::write(folder.path().join(LOCK), "process 1 on elsewhere").unwrap();
        assert!(Lock::take(folder.path()).is_ok());
    }
}
