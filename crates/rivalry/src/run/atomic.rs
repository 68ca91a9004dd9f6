//! Files that are whole or not there at all.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::{Error, Result};

/// Writes a file under a temporary name beside `path`, makes sure that it is on the disk, and renames it.
pub fn write(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<&mut File>) -> std::io::Result<()>,
) -> Result<()> {
    let fail = |e: std::io::Error| Error::io("write", path, e);
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".tmp-").tempfile_in(folder).map_err(fail)?;
    let mut writer = BufWriter::new(file.as_file_mut());
    content(&mut writer).and_then(|()| writer.flush()).map_err(fail)?;
    drop(writer);
    file.as_file().sync_all().map_err(fail)?;
    make_readable(file.as_file()).map_err(fail)?;
    file.persist(path).map_err(|e| fail(e.error))?;
    Ok(())
}

/// Temporary files are made for their owner alone; results are for whoever may see the folder.
#[cfg(unix)]
fn make_readable(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable(_: &File) -> std::io::Result<()> {
    Ok(())
}
