//! Panics are recorded, and reported only if nothing catches them: a decoder that panics on a damaged file is caught, and the
//! error is about the file.

use std::sync::{Mutex, PoisonError};

static LAST: Mutex<String> = Mutex::new(String::new());

/// Records panics instead of printing them.
pub fn record() {
    std::panic::set_hook(Box::new(|panic| {
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
}

/// Reports the last panic; `place` goes before it.
pub fn report(place: &str) {
    let panic = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    crate::output::warn(format_args!(
        "{place}internal error; please report it together with the command\n  {panic}"
    ));
}
