//! Rivalry trains, evaluates and compares implicit-feedback recommenders whose loss learns from the
//! competition between items.
#![forbid(unsafe_code)]

// What tests of this crate share with those in `tests` calls it by its name.
#[cfg(test)]
extern crate self as rivalry;

pub mod backbone;
pub mod collective;
pub mod config;
pub mod eval;
pub mod loss;
pub mod model;
pub mod models;
pub mod optim;
pub mod params;
pub mod ranker;
pub mod sampler;
pub mod scorer;
pub mod tensors;
pub mod train;
pub mod vectors;

pub use rivalry_data::{
    self as data, Error, InputError, Result, SettingMention, did_you_mean, files, memory, rng, unknown_name,
};
pub use rivalry_kernels::{Matrix, Real};

/// The example in the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
