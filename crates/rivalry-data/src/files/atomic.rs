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
    sync_folder(folder);
    Ok(())
}

/// The folder that a path is in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Syncs the entries of a folder to disk, so that a rename survives a power failure. Best effort: not every file system
/// supports it.
pub(crate) fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}
