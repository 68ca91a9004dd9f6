//! A temporary file that becomes permanent when it is complete.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use super::lock::is_at;

/// A locked file under a temporary name. It is deleted when dropped. If the process is killed it stays, but its lock is
/// released, so the next `PendingFile` with the same prefix in that folder deletes it.
pub(crate) struct PendingFile(NamedTempFile);

impl PendingFile {
    /// Creates a file in `folder` whose name starts with `prefix`, and deletes those left by dead processes.
    pub fn new(folder: &Path, prefix: &str) -> io::Result<Self> {
        remove_abandoned(folder, prefix);
        loop {
            let file = tempfile::Builder::new().prefix(prefix).tempfile_in(folder)?;
            match file.as_file().try_lock() {
                // Another process or thread may have deleted the file before it was locked.
                Ok(()) if is_at(file.as_file(), file.path()) => return Ok(Self(file)),
                // Or it has locked it, and is about to delete it.
                Ok(()) | Err(TryLockError::WouldBlock) => {}
                // On file systems without locks `remove_abandoned` never deletes anything, so nothing is lost.
                Err(TryLockError::Error(_)) => return Ok(Self(file)),
            }
        }
    }

    /// The file, for writing.
    pub fn file_mut(&mut self) -> &mut File {
        self.0.as_file_mut()
    }

    /// Syncs the file to disk and renames it to `path`, replacing what was there.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        self.0.as_file().sync_all()?;
        make_readable(self.0.as_file())?;
        self.0.persist(path).map(|_| ()).map_err(|e| e.error)
    }
}

/// Deletes the pending files of dead processes, as far as possible.
fn remove_abandoned(folder: &Path, prefix: &str) {
    let Ok(entries) = folder.read_dir() else { return };
    let pending = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    for path in pending.map(|entry| entry.path()) {
        let Ok(file) = OpenOptions::new().read(true).write(true).open(&path) else { continue };
        if file.try_lock().is_ok() {
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Temporary files are created for their owner only; results are readable by everyone who may read the folder.
#[cfg(unix)]
fn make_readable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// While one thread looks for files of dead processes, another creates its own.
    #[test]
    fn threads_that_write_at_the_same_time_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let folder = folder.path();
                scope.spawn(move || {
                    for _ in 0..300 {
                        let pending = PendingFile::new(folder, ".tmp-").unwrap();
                        pending.0.persist(folder.join(format!("result-{thread}"))).unwrap();
                    }
                });
            }
        });
        assert_eq!(folder.path().read_dir().unwrap().count(), 4);
    }

    #[test]
    fn files_of_dead_processes_are_deleted_and_those_in_use_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let count = || folder.path().read_dir().unwrap().count();
        std::fs::write(folder.path().join(".tmp-dead"), "half of somethi").unwrap();
        std::fs::write(folder.path().join("other"), "unrelated").unwrap();
        let in_use = PendingFile::new(folder.path(), ".tmp-").unwrap();
        assert!(!folder.path().join(".tmp-dead").exists());
        let second = PendingFile::new(folder.path(), ".tmp-").unwrap();
        assert_eq!(count(), 3, "both pending files and the unrelated one");
        drop(in_use);
        second.persist(&folder.path().join("result")).unwrap();
        assert_eq!(count(), 2);
    }
}
