//! What a reader hands over: columns of records whose ids are already dense, and the maps back.

use super::IdMap;

/// Interactions as they stood in one file, in file order, repeats included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    /// Dense user ids.
    pub user: Vec<u32>,
    /// Dense item ids.
    pub item: Vec<u32>,
    /// Ratings or weights, if the file has them.
    pub rating: Option<Vec<f32>>,
    /// Time stamps, if the file has them; only their order matters.
    pub time: Option<Vec<i64>>,
}

/// Records that are still to be split, or that came split.
#[derive(Clone, Debug, PartialEq)]
pub enum Parts {
    /// One log of interactions.
    Whole(Records),
    /// Files that name their own training, validation and test parts.
    Given {
        /// The training part.
        train: Records,
        /// The validation part, if there is one.
        valid: Option<Records>,
        /// The test part.
        test: Records,
    },
}

/// All that was read from one source.
#[derive(Clone, Debug, PartialEq)]
pub struct RawData {
    /// Original user ids.
    pub users: IdMap,
    /// Original item ids.
    pub items: IdMap,
    /// The records.
    pub parts: Parts,
    /// What the user should know about the reading.
    pub notes: Vec<String>,
}
