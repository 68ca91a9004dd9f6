//! Rivalry trains, evaluates and compares implicit-feedback recommenders whose loss learns from the
//! competition between items.
#![forbid(unsafe_code)]

pub mod backbone;
pub mod compare;
pub mod config;
pub mod eval;
pub mod experiment;
pub mod inspect;
pub mod loss;
pub mod reproduce;
pub mod run;
pub mod sample;
mod self_test;
pub mod stats;
pub mod train;

pub use rivalry_data::{
    self as data, Error, InputError, Result, did_you_mean, files, memory, rng, unknown_name,
};
pub use rivalry_kernels::Matrix;
pub use self_test::{Tested, self_test};

/// The example in the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
