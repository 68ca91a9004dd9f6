//! Data sets for implicit-feedback recommenders: from a file of interactions to a [`Dataset`] with training, validation
//! and test sets.
//!
//! [`load`] does all of it:
//!
//! ```
//! use rivalry_data::{DataConfig, LoadOptions, Split, load};
//!
//! let mut config = DataConfig::new("synthetic"); // a name in the catalogue, or a path
//! config.prepare.user_core = 5;
//! config.prepare.split = Split::Random { test: 0.25 };
//! let dataset = load(&config, &LoadOptions::default(), &mut |_| {})?;
//!
//! let ids: Vec<&str> = dataset.train.items_of(0).iter().map(|&item| dataset.items.original(item)).collect();
//! println!("user {} has {} training items, such as {}", dataset.users.original(0), ids.len(), ids[0]);
//! println!("{}", rivalry_data::stats(&dataset));
//! # Ok::<(), rivalry_data::Error>(())
//! ```
//!
//! It consists of these steps, which can be called separately:
//!
//! 1. [`locate`] finds a data set by path or by its name in the [`catalogue()`], downloading it if necessary.
//! 2. [`read`](read::read()) detects the format (CSV, JSON lines, benchmark folders, RecBole, LightGCN, MovieLens, Parquet;
//!    plain or compressed) and returns [`RawData`]: records with dense ids, and [`IdMap`]s to the original ids.
//! 3. [`prepare`] merges duplicates, filters by rating and k-core, and splits; see [`Preparation`].
//!
//! [`write_benchmark`] writes a data set in a format that other programs read; [`prepare_folder`] does all of it for data that
//! don't fit into memory, too; [`export`] writes tables.
//!
//! Results depend on the data and the settings alone, never on the machine or the number of threads: the same
//! [`Dataset::checksum`] means the same data.
//!
//! The modules [`rng`], [`files`], [`memory`] and [`digest`] hold what the other `rivalry` crates build on: keyed random
//! streams, crash-safe files, memory limits and checksums.
//!
//! # Features
//!
//! None is enabled by default. Without a feature, the corresponding input is refused with an error that names it.
//!
//! - `parquet`: Parquet files.
//! - `archives`: gzip, Zstandard, xz, bzip2 and zip files.
//! - `download`: downloading the data sets of the catalogue to the user's cache folder.
#![forbid(unsafe_code)]

mod catalogue;
mod config;
mod dataset;
pub mod declared;
pub mod digest;
#[cfg(feature = "download")]
mod download;
mod error;
pub mod export;
pub mod files;
mod filter;
mod group;
mod ids;
mod interactions;
mod item_info;
mod load;
mod locate;
mod log;
pub mod memory;
mod noise;
mod parts;
mod prepare;
mod prepare_folder;
mod prepared_blocks;
mod prepared_checksums;
mod ratings;
mod raw;
pub mod read;
mod remote;
pub mod rng;
mod share;
mod split;
mod stats;
mod stream;
mod synthetic;
mod tally;
mod write;

pub use catalogue::{CatalogueEntry, Counts, Source, catalogue};
pub use config::DataConfig;
pub use dataset::Dataset;
#[cfg(feature = "download")]
pub use download::download;
pub use error::{Error, InputError, Result, SettingMention, did_you_mean, unknown_name};
pub use ids::{IdMap, Interner};
pub use interactions::Interactions;
pub use item_info::{ItemInfo, ItemTable};
pub use load::{LoadOptions, STANDARD_INPUT, load, load_raw};
pub use locate::{Located, Location, data_folders, inventory, is_local, locate, similar_path};
pub use parts::{Part, Parts};
pub use prepare::{Preparation, prepare};
pub use prepare_folder::{PrepareProgress, Prepared, prepare_folder};
pub use raw::{RawData, RawParts, RawRow, Records};
pub use remote::{DownloadProgress, RemoteFile};
pub use share::{Peers, load_share};
pub use split::{AppliedSplit, SPLITS, Split, SplitEntry, VALIDATIONS, Validation};
pub use stats::{CountStats, Stats, Unseen, count, gini, stats, thousands};
pub use synthetic::{SyntheticConfig, synthetic};
pub use write::write_benchmark;
