//! What a loss does to the competition between items: the quantities inside it, seen on sampled training pairs.
//!
//! [`inspect`] draws pairs and negatives as a training does, scores them with a trained model, and asks the loss for its
//! [diagnostics](rivalry::loss::Diagnostics): nothing of it is computed here a second time. Everything is in `f64`, so that
//! the theory's inequalities can be checked to the last digits.

mod batch;
mod bounds;
mod distribution;
mod gather;
mod inspection;
mod look;
mod slates;
#[cfg(test)]
mod tests;

pub use inspection::{
    Bounds, Distribution, GradientShares, Histogram, Inspection, Negative, Radius, Slate, TwoSlates,
};
pub use look::{Options, inspect};
