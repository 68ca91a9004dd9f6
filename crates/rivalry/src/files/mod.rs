//! Files that are whole or not there, one writer at a time, and nothing left behind by those who died.

mod atomic;
mod draft;
mod lock;

pub use atomic::write as write_atomically;
pub(crate) use atomic::{DRAFT, sync_folder};
pub(crate) use draft::Draft;
pub(crate) use lock::LOCK;
pub use lock::Lock;
