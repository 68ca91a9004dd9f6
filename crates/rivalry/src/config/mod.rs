//! What a run is made of, as data.

mod entry;
mod param;

pub use entry::{Entry, choose};
pub use param::{Param, Params, Range, Value};
