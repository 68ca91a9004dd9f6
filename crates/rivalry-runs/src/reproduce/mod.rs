//! The published tables and figures, cell by cell: which trainings they need, what those cost, and what came out beside
//! what was published.

mod cost;
mod measured;
mod plan;
mod tables;

pub use measured::{MeasuredCell, measure};
pub use plan::{Figure, Noise, Plan, Planned, Request, plan};
pub use tables::markdown;
