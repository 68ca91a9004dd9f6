//! The arithmetic under Rivalry, and the only room in the house where `unsafe` may live.

mod matrix;
mod scores;
mod top_k;

pub use matrix::{LANES, Lane, Matrix, ZERO};
pub use scores::score_block;
pub use top_k::TopK;
