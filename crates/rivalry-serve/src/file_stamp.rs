//! Whether a file is still the one that was read.

use std::path::Path;
use std::time::SystemTime;

/// What changes when a file is replaced or written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    modified: Option<SystemTime>,
    len: u64,
    /// The number of the file on its disk: another one after a rename.
    number: u64,
}

impl FileStamp {
    pub fn of(path: &Path) -> std::io::Result<Self> {
        let metadata = std::fs::metadata(path)?;
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let number = 0;
        Ok(Self { modified: metadata.modified().ok(), len: metadata.len(), number })
    }

    /// The size in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }
}
