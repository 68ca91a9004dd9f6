//! What a loss does to the competition between items: the quantities inside it, seen on sampled training pairs.

mod inspection;

pub use inspection::{
    Bounds, Distribution, GradientShares, Histogram, Inspection, Negative, Radius, Slate, TwoSlates,
};
