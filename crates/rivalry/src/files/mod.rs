//! Files that are whole or not there, one writer at a time, and nothing left behind by those who died.

mod atomic;
mod draft;
mod lock;

pub(crate) use atomic::sync_folder;
pub use atomic::write as write_atomically;
pub(crate) use draft::Draft;
pub(crate) use lock::LOCK;
pub use lock::Lock;
