//! Files that are whole or not there at all.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::Draft;
use crate::{Error, Result};

/// How the temporary names of such files begin.
pub const DRAFT: &str = ".tmp-";

/// Writes a file under a temporary name beside `path`, makes sure that it is on the disk, and renames it.
pub fn write(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<&mut File>) -> std::io::Result<()>,
) -> Result<()> {
    let fail = |e: std::io::Error| Error::io("write", path, e);
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut draft = Draft::new(folder, DRAFT).map_err(fail)?;
    let mut writer = BufWriter::new(draft.file_mut());
    content(&mut writer).and_then(|()| writer.flush()).map_err(fail)?;
    drop(writer);
    draft.persist(path).map_err(fail)?;
    sync_folder(folder);
    Ok(())
}

/// Has new names on the disk as well, so that what is written next can't be there without them after a power cut. Not
/// every file system can; those that can't keep their own order.
pub(crate) fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}
