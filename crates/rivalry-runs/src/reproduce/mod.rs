//! The published tables and figures, cell by cell: which trainings they need, what those cost, and the measured values.

mod cost;
mod measured;
mod plan;

pub use measured::{MeasuredCell, measure};
pub use plan::{Figure, Noise, Plan, Planned, Request, plan};
