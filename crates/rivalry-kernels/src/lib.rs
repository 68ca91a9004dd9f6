//! The arithmetic under Rivalry, and the only room in the house where `unsafe` may live.

mod matrix;

pub use matrix::{LANES, Lane, Matrix, ZERO};
