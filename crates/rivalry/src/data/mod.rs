//! From a file of interactions to a [`Dataset`]: read, map ids, filter, split.

mod dataset;
mod ids;
mod interactions;
mod raw;
pub mod read;

pub use dataset::Dataset;
pub use ids::{IdMap, Interner};
pub use interactions::Interactions;
pub use raw::{Parts, RawData, Records};
