//! Diagnostics of a loss on sampled training pairs: scales, competition, temperatures, gradient shares, KL radius.
//!
//! [`inspect`] samples pairs and negatives as in training, scores them with a trained model, and calls the
//! [diagnostics](rivalry::loss::Diagnostics) of the loss itself. Everything is in `f64`, so that the theoretical
//! inequalities can be checked with a tight tolerance.

mod bounds;
mod collect;
mod diagnose;
mod distribution;
mod inspection;
mod pair;
mod sample;
mod slates;
#[cfg(test)]
mod tests;

pub use collect::{InspectOptions, inspect};
pub use inspection::{
    Bounds, Distribution, GradientShares, Histogram, Inspection, Negative, Radius, Slate, TwoSlates,
};
pub use pair::ReferenceBatch;
