//! Things that are chosen by name (models, losses, samplers, optimisers) and their parameters.
//!
//! A [`Param`] is declared once. From the declaration come the check of a config, the default, `rivalry list`, the
//! documentation and the search grid.

mod entry;
mod param;
mod search;

pub use entry::{Choice, Entry};
pub use param::{Param, Params, Range, Value, shown};
pub use search::{Draw, Search};
