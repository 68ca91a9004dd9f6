//! What processes must have in common to train one model.

use std::hash::{DefaultHasher, Hasher};

use rivalry::config::Config;
use rivalry::data::STANDARD_INPUT;
use rivalry::{InputError, Result};

/// What tells one program from another: its version, its file and the kind of its arithmetic.
pub fn program() -> String {
    let mut hasher = DefaultHasher::new();
    let file = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
    hasher.write(&file);
    // AVX2 and AVX-512 give the same bits, and less than these others.
    let fused = rivalry_kernels::level_name() != "baseline";
    format!("{} {:016x} {fused}", env!("CARGO_PKG_VERSION"), hasher.finish())
}

/// Refuses data that only one process can read.
///
/// # Errors
/// If the data come from standard input.
pub fn refuse_standard_input(config: &Config) -> Result<()> {
    if config.data.source != STANDARD_INPUT {
        return Ok(());
    }
    let fault = "several processes can't read their data from standard input";
    Err(InputError::new(fault).help("write them to a file that all processes can read").into())
}
