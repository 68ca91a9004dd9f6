//! Crash-safe files: atomic writes, checksums, results that go to a file or a stream, temporary files that clean up after
//! dead processes, and folder locks.

mod atomic;
pub mod checksum;
mod lock;
mod output;
mod pending;

pub use atomic::{TEMP_PREFIX, folder_of, sync_folder, write as write_atomically};
pub use lock::{FolderLock, LOCK_FILE, host};
pub use output::{Output, OutputWriter};

#[cfg(feature = "download")]
pub(crate) use pending::PendingFile;
