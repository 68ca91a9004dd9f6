//! From a file of interactions to a [`Dataset`]: read, map ids, filter, split.

mod catalogue;
mod dataset;
pub mod digest;
mod download;
mod events;
mod filter;
mod ids;
mod interactions;
mod load;
mod locate;
mod noise;
mod prepare;
mod raw;
pub mod read;
mod split;
mod stats;
mod synthetic;
mod write;

pub use catalogue::{CatalogueEntry, Counts, Source, catalogue};
pub use dataset::Dataset;
pub use download::download;
pub use ids::{IdMap, Interner};
pub use interactions::Interactions;
pub use load::load;
pub use locate::{DownloadProgress, Located, Place, data_folders, inventory, locate};
pub use prepare::{Preparation, prepare};
pub use raw::{Parts, RawData, Records};
pub use split::{Choice, SPLITS, Split, VALIDATIONS, Validation};
pub use stats::{Spread, Stats, Unseen, stats, thousands};
pub use synthetic::{SyntheticConfig, synthetic};
pub use write::write_benchmark;
