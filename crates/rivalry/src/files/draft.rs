//! A file on its way to its name.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use super::lock::is_at;

/// A file under a passing name. Dropped, it is gone; of a process that was killed it stays, but is no longer locked, and
/// the next draft in that folder takes it away.
pub(crate) struct Draft(NamedTempFile);

impl Draft {
    /// A new file in `folder`, whose name begins with `prefix`: by that the drafts of dead processes are known, too.
    pub fn new(folder: &Path, prefix: &str) -> io::Result<Self> {
        clear(folder, prefix);
        loop {
            let file = tempfile::Builder::new().prefix(prefix).tempfile_in(folder)?;
            // Some file systems can't lock. There drafts of others are never taken away, so nothing is lost.
            let locked = file.as_file().try_lock().is_ok();
            // Before it was locked somebody may have taken it for a dead one's.
            if !locked || is_at(file.as_file(), file.path()) {
                return Ok(Self(file));
            }
        }
    }

    /// The file.
    pub fn file(&self) -> &File {
        self.0.as_file()
    }

    /// The file, to be written to.
    pub fn file_mut(&mut self) -> &mut File {
        self.0.as_file_mut()
    }

    /// Makes sure that all of it is on the disk, and gives it its name, in the place of whatever had it.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        self.file().sync_all()?;
        make_readable(self.file())?;
        self.0.persist(path).map(|_| ()).map_err(|e| e.error)
    }
}

/// Takes away the drafts of processes that are no more. What can't be taken away is left.
fn clear(folder: &Path, prefix: &str) {
    let Ok(entries) = folder.read_dir() else { return };
    let drafts = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    for path in drafts.map(|entry| entry.path()) {
        let Ok(file) = OpenOptions::new().read(true).write(true).open(&path) else { continue };
        if file.try_lock().is_ok() {
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Temporary files are made for their owner alone; results are for whoever may see the folder.
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

    #[test]
    fn drafts_of_the_dead_go_and_those_of_the_living_stay() {
        let folder = tempfile::tempdir().unwrap();
        let count = || folder.path().read_dir().unwrap().count();
        std::fs::write(folder.path().join(".tmp-dead"), "half of somethi").unwrap();
        std::fs::write(folder.path().join("other"), "not ours").unwrap();
        let living = Draft::new(folder.path(), ".tmp-").unwrap();
        assert!(!folder.path().join(".tmp-dead").exists());
        let second = Draft::new(folder.path(), ".tmp-").unwrap();
        assert_eq!(count(), 3, "both drafts and the foreign file");
        drop(living);
        second.persist(&folder.path().join("result")).unwrap();
        assert_eq!(count(), 2);
    }
}
