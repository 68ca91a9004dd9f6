//! Reproduction of the published tables and figures: the trainings they need, their cost, and their results beside the
//! published ones.

mod cost;
mod plan;
mod records;
mod results;

pub use plan::{Experiment, Noise, Plan, Planned, Request, plan};
pub use records::{RecordedMetrics, Records, TrainingRecord};
pub use results::{CellResult, cell_results, collect_records};

pub(crate) use results::DEFAULT_PROTOCOL;
