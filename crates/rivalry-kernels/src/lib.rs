//! Arithmetic kernels for Rivalry, and the only crate of the workspace that contains `unsafe` code.
//!
//! The instruction set (AVX-512, AVX2 or the target's baseline) is chosen at run time, so a default build needs no
//! compiler flags; see [`level_name`]. Kernels operate on whole [`Lane`]s, accumulate in a fixed order and do not
//! depend on the number of threads: the same input gives the same bits. All of them run on the calling thread.
//!
//! - [`Matrix`]: row-major tables with aligned, zero-padded rows.
//! - [`dots`], [`add_weighted_rows`], [`add_to_rows`], [`BlockedGather`]: gathers and scatters by row id.
//! - [`pack_panels`], [`dots_packed`], [`add_weighted_sums`]: dense products; [`chained_dots`]: some elements of one.
//! - [`add_gram`], [`pairwise_dots`], [`solve_normal_equations`]: small least-squares problems.
//! - [`multiply_panel`], [`subtract_panel_product`]: blocks of large matrices.
//! - [`spmm`]: sparse matrix times table.
//! - [`Real`]: functions of a row of scores (log-sum-exp, activations, hinge), with their gradients.
//! - [`release_free_memory`], [`map_large_blocks`], [`advise_huge_pages`]: what the system is told about memory.
//! - [`adam`], [`normalise`]: what an optimiser step does to rows. [`TopKSelector`]: the k best of a stream of scores.

mod activations;
mod adam;
mod allocator;
mod blocked_gather;
mod chained_dots;
mod dense;
mod gather;
mod high_scores;
mod hinge;
mod importance;
mod least_squares;
mod log_mean_exp;
mod log_sum_exp;
mod math;
mod matrix;
mod normalise;
mod pairwise;
mod panel_products;
mod real;
mod scalar;
mod simd;
mod spmm;
#[cfg(test)]
mod test_data;
mod top_k;
mod top_scores;

pub use adam::{AdamCatchUp, AdamStep, adam, adam_catch_up, adam_zero_grad};
pub use allocator::{advise_huge_pages, map_large_blocks, release_free_memory};
pub use blocked_gather::{BlockedGather, Exponent, GatherBlock};
pub use chained_dots::chained_dots;
pub use dense::{add_weighted_sums, add_weighted_sums_transposed, dots_packed, pack_panels};
pub use gather::{add_to_rows, add_weighted_rows, dots, gather_rows, gather_scaled_rows};
pub use least_squares::{add_gram, solve_normal_equations};
pub use matrix::{LANES, Lane, Matrix, ZERO};
pub use normalise::{normalise, normalise_backward};
pub use pairwise::pairwise_dots;
pub use panel_products::{Block, PANEL, PANEL_LANES, multiply_panel, subtract_panel_product};
pub use real::{Activation, Hinge, HingeSums, Real};
pub use scalar::{sigmoid, softplus};
pub use simd::{level_name, prefetch};
pub use spmm::{SparseRows, spmm};
pub use top_k::TopKSelector;
