//! What a reader returns: columns of records with dense ids, and the maps to the original ids.

use serde::Serialize;

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

/// One interaction as it was read, with its original ids.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RawRow {
    /// The user.
    pub user: String,
    /// The item.
    pub item: String,
    /// The rating, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<f32>,
    /// The timestamp, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<i64>,
}

impl Records {
    /// The first rows, at most `n`, with their original ids.
    pub fn first_rows(&self, n: usize, users: &IdMap, items: &IdMap) -> Vec<RawRow> {
        let row = |n: usize| RawRow {
            user: users.original(self.user[n]).to_owned(),
            item: items.original(self.item[n]).to_owned(),
            rating: self.rating.as_ref().map(|ratings| ratings[n]).filter(|rating| !rating.is_nan()),
            time: self.time.as_ref().map(|times| times[n]),
        };
        (0..self.user.len().min(n)).map(row).collect()
    }

    /// Adds records, of which there are the same columns.
    pub(crate) fn extend(&mut self, other: Self) {
        self.user.extend(other.user);
        self.item.extend(other.item);
        self.rating.iter_mut().for_each(|all| all.extend(other.rating.iter().flatten()));
        self.time.iter_mut().for_each(|all| all.extend(other.time.iter().flatten()));
    }

    /// The first records, at most `n`.
    pub(crate) fn first(&self, n: usize) -> Self {
        let n = n.min(self.user.len());
        Self {
            user: self.user[..n].to_vec(),
            item: self.item[..n].to_vec(),
            rating: self.rating.as_ref().map(|ratings| ratings[..n].to_vec()),
            time: self.time.as_ref().map(|times| times[..n].to_vec()),
        }
    }
}

impl RawData {
    /// The first rows, at most `n`, of the log or of the training set.
    pub fn first_rows(&self, n: usize) -> Vec<RawRow> {
        let (RawParts::Whole(records) | RawParts::Given { train: records, .. }) = &self.parts;
        records.first_rows(n, &self.users, &self.items)
    }
}
