//! Crash-safe files: atomic writes, checksums, temporary files that clean up after dead processes, and folder locks.

mod atomic;
pub mod checksum;
mod lock;
mod pending;

pub use atomic::{TEMP_PREFIX, write as write_atomically};
pub use lock::{FolderLock, LOCK_FILE};

pub(crate) use atomic::sync_folder;
#[cfg(feature = "download")]
pub(crate) use pending::PendingFile;
