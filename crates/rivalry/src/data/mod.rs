//! From a file of interactions to a [`Dataset`]: read, map ids, filter, split.

mod dataset;
mod ids;
mod interactions;

pub use dataset::Dataset;
pub use ids::IdMap;
pub use interactions::Interactions;
