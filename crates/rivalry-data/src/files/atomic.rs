//! Atomic writes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::pending::PendingFile;
use crate::{Error, Result};

/// The prefix of the temporary files that [`write_atomically`](super::write_atomically) creates.
pub const TEMP_PREFIX: &str = ".tmp-";

/// Writes a file atomically: under a temporary name in the same folder, synced to disk, then renamed to `path`.
/// Whatever fails, `path` holds either its old content or all of the new one.
pub fn write(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<&mut File>) -> std::io::Result<()>,
) -> Result<()> {
    let fail = |e: std::io::Error| Error::io("write", path, e);
    let folder = folder_of(path);
    let mut pending = PendingFile::new(folder, TEMP_PREFIX).map_err(fail)?;
    let mut writer = BufWriter::new(pending.file_mut());
    content(&mut writer).and_then(|()| writer.flush()).map_err(fail)?;
    drop(writer);
    pending.persist(path).map_err(fail)?;
    // Not every file system supports it.
    let _ = sync_folder(folder);
    Ok(())
}

/// The folder that a path is in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Syncs the entries of a folder to disk, so that a new name survives a power failure.
#[cfg(unix)]
pub fn sync_folder(folder: &Path) -> std::io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Does nothing: a folder can't be opened as a file here, and there is no other call for it.
#[cfg(not(unix))]
pub fn sync_folder(_: &Path) -> std::io::Result<()> {
    Ok(())
}
