//! Run folders and what is built on them: sweeps, comparisons with statistics, inspections, and the published
//! tables.
//!
//! A run is a folder ([`run`]). [`auto`] searches for the best model for a log within a time budget. Many trials over a search space are a [`sweep`]. Finished runs are compared with a
//! baseline ([`compare`], [`stats`]), inspected ([`inspect`]), and set beside published results ([`reproduce`],
//! [`presets`]). Which runs are comparable and which setting is the best is decided in [`selection`].
#![forbid(unsafe_code)]

pub mod auto;
pub mod compare;
pub mod inspect;
mod json_file;
pub mod presets;
pub mod reproduce;
pub mod run;
pub mod selection;
mod self_test;
pub mod settings;
pub mod stats;
pub mod sweep;
pub mod update;

pub use rivalry::{Error, InputError, Result};
pub use self_test::{SelfTest, self_test};
