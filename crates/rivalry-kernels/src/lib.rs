//! The arithmetic under Rivalry, and the only room in the house where `unsafe` may live.
//!
//! Kernels pick AVX-512, AVX2 or the baseline at run time (see [`level_name`]); a default build needs no flags.
//! They work on whole [`Lane`]s, add in a fixed order and never look at the number of threads, so that the same
//! input gives the same bits.

mod activations;
mod dense;
mod gather;
mod hinge;
mod matrix;
mod optim;
mod picks;
mod real;
mod rows;
mod scalar;
mod scores;
mod simd;
mod spmm;
mod top_k;

pub use dense::{add_weighted_sums, add_weighted_sums_transposed, dots_with_all, turn_into_panels};
pub use gather::{add_to_rows, add_weighted_rows, dots};
pub use matrix::{LANES, Lane, Matrix, ZERO};
pub use optim::{Adam, adam, adam_at_rest, normalise, normalise_backward};
pub use picks::{Part, Picks};
pub use real::{Activation, Hinge, Real};
pub use scalar::{sigmoid, softplus};
pub use scores::score_block;
pub use simd::level_name;
pub use spmm::{SparseRows, spmm};
pub use top_k::TopK;
