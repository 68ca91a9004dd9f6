//! Folder locks: one writer at a time. The operating system holds the lock, so it ends with the process, however that
//! ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::{Error, InputError, Result};

/// The name of the locked file. It contains who holds the lock.
pub const LOCK_FILE: &str = ".lock";

/// An exclusive lock on a folder, released when dropped.
#[derive(Debug)]
pub struct FolderLock {
    path: PathBuf,
    file: File,
}

impl FolderLock {
    /// Locks a folder.
    ///
    /// # Errors
    /// If another process holds the lock (the error names it), or the lock file can't be created.
    pub fn acquire(folder: &Path) -> Result<Self> {
        match Self::try_acquire(folder)? {
            Ok(lock) => Ok(lock),
            Err(holder) => Err(InputError::new(format!("is being written to by {holder}"))
                .file(folder)
                .help("wait until that process has ended, or choose another folder")
                .into()),
        }
    }

    /// Locks a folder, or returns a description of the process that holds the lock as the inner error.
    ///
    /// # Errors
    /// If the lock file can't be created.
    pub fn try_acquire(folder: &Path) -> Result<Result<Self, String>> {
        let path = folder.join(LOCK_FILE);
        let fail = |e| Error::io("lock", &path, e);
        loop {
            let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = open.map_err(fail)?;
            match file.try_lock() {
                Ok(()) if !is_at(&file, &path) => continue, // the previous holder deleted it in the meantime
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
            // From here on the file is deleted if anything fails.
            let mut lock = Self { path: path.clone(), file };
            lock.file.set_len(0).map_err(fail)?;
            writeln!(lock.file, "process {} on {}", std::process::id(), host()).map_err(fail)?;
            return Ok(Ok(lock));
        }
    }
}

impl Drop for FolderLock {
    /// Deletes the lock file while it is still locked, so that nobody can have locked it in between. Where `is_at`
    /// can't tell a deleted file from its successor, the file stays, which is harmless.
    fn drop(&mut self) {
        if cfg!(unix) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Whether an open file is still the one at that path.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(found)) => (open.dev(), open.ino()) == (found.dev(), found.ino()),
        _ => false,
    }
}

/// Whether there still is a file at that path: the standard library has no file identity here.
#[cfg(not(unix))]
pub(super) fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// The name of this machine: folders may be shared between machines.
pub fn host() -> String {
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
    fn the_second_process_is_told_who_holds_the_lock_and_gets_it_after_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let first = FolderLock::acquire(folder.path()).unwrap();
        let error = FolderLock::acquire(folder.path()).unwrap_err().to_string();
        #[cfg(unix)] // elsewhere a locked file can't be read
        assert!(error.contains(&format!("process {} on ", std::process::id())), "{error}");
        assert!(error.contains("written to by "), "{error}");
        drop(first);
        #[cfg(unix)]
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "nothing is left");
        // The lock file of a dead process doesn't matter.
        std::fs::write(folder.path().join(LOCK_FILE), "process 1 on elsewhere").unwrap();
        assert!(FolderLock::acquire(folder.path()).is_ok());
    }
}
