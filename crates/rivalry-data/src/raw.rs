//! What a reader returns: columns of records with dense ids, and the maps to the original ids.

use super::IdMap;
use crate::read::Reading;

/// Interactions in file order, duplicates included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    /// Dense user ids.
    pub user: Vec<u32>,
    /// Dense item ids.
    pub item: Vec<u32>,
    /// Ratings or weights, if the file has them; NaN where a record has none.
    pub rating: Option<Vec<f32>>,
    /// Timestamps, if the file has them; only their order matters.
    pub time: Option<Vec<i64>>,
}

/// Records that are not split yet, or that were read from separate files for each part.
#[derive(Clone, Debug, PartialEq)]
pub enum RawParts {
    /// A single log of interactions.
    Whole(Records),
    /// Training, validation and test sets as given by the source.
    Given {
        /// The training set.
        train: Records,
        /// The validation set, if there is one.
        valid: Option<Records>,
        /// The test set; empty if there is none.
        test: Records,
    },
}

/// Everything read from one source.
#[derive(Clone, Debug, PartialEq)]
pub struct RawData {
    /// Original user ids.
    pub users: IdMap,
    /// Original item ids.
    pub items: IdMap,
    /// The records.
    pub parts: RawParts,
    /// Messages for the user about how the source was read.
    pub notes: Vec<String>,
    /// How the source was read; `None` if it is not a file.
    pub reading: Option<Reading>,
}
