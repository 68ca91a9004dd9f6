//! Drives the real binary, as a user or a script would.

mod bad_input;
mod bad_model;
mod commands;
mod data;
mod interrupted;
mod report;
mod support;
mod training;
