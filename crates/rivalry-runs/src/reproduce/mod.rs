//! The published tables and figures, cell by cell: which trainings they need, what those cost, and what came out beside
//! what was published.

mod cost;
mod plan;
mod results;
mod tables;

pub use plan::{Experiment, Noise, Plan, Planned, Request, plan};
pub use results::{CellResult, collect_results};
pub use tables::markdown;
