//! Drives the real binary, as a user or a script would.

mod bad_input;
mod bad_model;
mod commands;
mod compare;
mod data;
mod inspect;
mod interrupted;
mod models;
mod released;
mod report;
mod reproduce;
mod settings;
mod support;
mod sweep;
mod training;
mod trust;
