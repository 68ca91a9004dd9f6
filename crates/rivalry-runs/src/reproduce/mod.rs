//! Reproduction of the published tables and figures: the trainings they need, their cost, and their results beside the
//! published ones.

mod cost;
mod plan;
mod results;

pub use plan::{Experiment, Noise, Plan, Planned, Request, plan};
pub use results::{CellResult, collect_results};

pub(crate) use results::DEFAULT_PROTOCOL;
