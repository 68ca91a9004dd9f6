//! Training: one step, and the loop around it.

mod model;
mod optim;
mod step;

pub use model::{Model, Score};
pub use optim::{AdamConfig, AdamState};
pub use step::{Batch, Stepper};
