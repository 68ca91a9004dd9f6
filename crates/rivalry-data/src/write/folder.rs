//! A folder that appears complete or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use super::FILES;
use crate::error::{Error, InputError, Result};
use crate::files::{FolderLock, sync_folder};

/// A prepared data set that is being written.
pub(crate) struct NewFolder {
    out: PathBuf,
    /// Whether it replaces another.
    replaces: bool,
    parent: PathBuf,
    staging: StagingFolder,
    /// Where the files are written.
    pub new: PathBuf,
}

impl NewFolder {
    /// Begins to write the folder `out`.
    ///
    /// # Errors
    /// If it exists and `replace` is not set, or contains other files; if another process writes it; or if a folder can't
    /// be created beside it.
    pub fn create(out: &Path, replace: bool) -> Result<Self> {
        let replaces = fs::symlink_metadata(out).is_ok();
        if replaces {
            check_replaceable(out, replace)?;
        }
        let parent = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(|source| Error::io("create", parent, source))?;
        let staging = StagingFolder::create(parent, out)?;
        let new = staging.create_folder("new")?;
        Ok(Self { out: out.to_owned(), replaces, parent: parent.to_owned(), staging, new })
    }

    /// A folder for files that are needed while the data set is written.
    pub fn scratch(&self) -> Result<PathBuf> {
        self.staging.create_folder("scratch")
    }

    /// Puts the folder in its place.
    pub fn commit(self) -> Result<()> {
        let Self { out, replaces, parent, new, .. } = &self;
        let _ = sync_folder(new);
        let moved = if *replaces { exchange(new, out) } else { fs::rename(new, out) };
        moved.map_err(|source| Error::io("write", out, source))?;
        let _ = sync_folder(parent);
        Ok(())
    }
}

/// The folder in which a data set is written before it is renamed. It is beside the destination, so that renaming is
/// atomic, and its name is fixed, so that the next attempt deletes what a killed process left.
struct StagingFolder {
    path: PathBuf,
    _lock: FolderLock,
}

impl StagingFolder {
    fn create(parent: &Path, out: &Path) -> Result<Self> {
        let name = out.file_name().unwrap_or_default().to_string_lossy();
        let path = parent.join(format!(".prepare-{name}"));
        fs::create_dir_all(&path).map_err(|source| Error::io("create", &path, source))?;
        let lock = FolderLock::acquire(&path).inspect_err(|_| {
            // Fails if another process is at work in it.
            let _ = fs::remove_dir(&path);
        })?;
        let staging = Self { path, _lock: lock };
        staging.clear().map_err(|source| Error::io("clear", &staging.path, source))?;
        Ok(staging)
    }

    fn create_folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.path.join(name);
        fs::create_dir(&folder).map_err(|source| Error::io("create", &folder, source))?;
        Ok(folder)
    }

    fn clear(&self) -> std::io::Result<()> {
        for entry in fs::read_dir(&self.path)?.flatten().filter(|entry| entry.path().is_dir()) {
            fs::remove_dir_all(entry.path())?;
        }
        Ok(())
    }
}

impl Drop for StagingFolder {
    fn drop(&mut self) {
        // What can't be deleted now is deleted on the next attempt.
        let _ = self.clear();
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Swaps two folders.
#[cfg(target_os = "linux")]
fn exchange(new: &Path, out: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, new, CWD, out, RenameFlags::EXCHANGE) {
        // Not every file system supports it.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => move_aside(new, out),
        result => Ok(result?),
    }
}

#[cfg(not(target_os = "linux"))]
fn exchange(new: &Path, out: &Path) -> std::io::Result<()> {
    move_aside(new, out)
}

/// Swaps two folders in two steps. If the process is killed in between, the old folder is left beside the new one.
fn move_aside(new: &Path, out: &Path) -> std::io::Result<()> {
    let old = new.with_file_name("old");
    fs::rename(out, &old)?;
    fs::rename(new, out).inspect_err(|_| {
        // If the old folder can't be restored either, the original error is reported.
        let _ = fs::rename(&old, out);
    })
}

fn check_replaceable(out: &Path, replace: bool) -> Result<()> {
    if !replace {
        return Err(InputError::new("already exists")
            .file(out)
            .help("give another name, or use --force to replace it")
            .into());
    }
    let entries = fs::read_dir(out).map_err(|source| Error::io("replace", out, source))?;
    for entry in entries {
        let name = entry.map_err(|source| Error::io("read", out, source))?.file_name();
        if !FILES.iter().any(|&file| name == file) {
            let message = format!(
                "not replaced, because it contains '{}', which is not part of a data set",
                name.display()
            );
            return Err(InputError::new(message)
                .file(out)
                .help("give another name, or move the file away")
                .into());
        }
    }
    Ok(())
}
