//! Files that are whole or not there, one writer at a time, and nothing left behind by those who died.

mod atomic;
mod draft;
mod lock;

pub use atomic::DRAFT;
pub(crate) use atomic::sync_folder;
pub use atomic::write as write_atomically;
pub(crate) use draft::Draft;
pub use lock::{LOCK, Lock};
