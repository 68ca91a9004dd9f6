//! What the user can say about a file.

use serde::{Deserialize, Serialize};

use crate::declared;

declared! {
/// How to read a file; whatever is `None` is detected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// The name of a format (`rivalry list formats`).
    pub format: Option<String>,
    /// The field delimiter; a space stands for any run of spaces and tabs.
    pub delimiter: Option<char>,
    /// Whether the first row holds the column names.
    pub header: Option<bool>,
    /// The column of user ids, by name or by number (from 1).
    pub user: Option<String>,
    /// The column of item ids, by name or by number.
    pub item: Option<String>,
    /// The column of ratings, by name or by number; an empty name ignores ratings.
    pub rating: Option<String>,
    /// The column of timestamps, by name or by number; an empty name ignores timestamps.
    pub time: Option<String>,
    /// Leave out rows that can't be read instead of refusing the file; they are counted, and the first are listed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skip_bad_rows: bool,
    /// Whether every record must have a rating; otherwise an empty one is read as NaN. Not a setting of a config:
    /// [`load`](crate::load()) sets it if a minimum rating is asked for.
    #[serde(skip)]
    pub needs_ratings: bool,
}
}

impl ReadOptions {
    /// The options that are set, other than `format`.
    pub(super) fn given(&self) -> Vec<&'static str> {
        [
            ("delimiter", self.delimiter.is_some()),
            ("header", self.header.is_some()),
            ("user", self.user.is_some()),
            ("item", self.item.is_some()),
            ("rating", self.rating.is_some()),
            ("time", self.time.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, given)| given.then_some(name))
        .collect()
    }

    /// Whether a column is given by something other than a number, so that there must be a header.
    pub(super) fn names_a_column(&self) -> bool {
        let columns = [&self.user, &self.item, &self.rating, &self.time];
        columns.into_iter().flatten().any(|name| !name.bytes().all(|b| b.is_ascii_digit()))
    }
}
