//! Rivalry trains, evaluates and compares implicit-feedback recommenders whose loss learns from the
//! competition between items.
#![forbid(unsafe_code)]

pub mod data;
mod error;
pub mod eval;

pub use error::{Error, InputError, Result, did_you_mean, unknown_name};
pub use rivalry_kernels::Matrix;
