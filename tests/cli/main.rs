//! Drives the real binary, as a user or a script would.

mod bad_input;
mod bad_model;
mod batch;
mod commands;
mod compare;
mod damage;
mod data;
mod data_notes;
mod formats;
mod inspect;
mod interrupted;
mod lists;
mod models;
mod moved_data;
mod no_test_set;
mod outputs;
mod reading;
mod released;
mod report;
mod reproduce;
mod serve;
mod settings;
mod support;
mod sweep;
mod training;
mod trust;
