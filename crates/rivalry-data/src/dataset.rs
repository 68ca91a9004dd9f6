//! The data set a model is trained and evaluated on.

use std::borrow::Cow;

use super::{
    AppliedSplit, IdMap, Interactions, Parts, digest::Hasher, read::SkippedRows, share::ShareSource,
};
use crate::{InputError, Result};

/// Interactions split into training, validation and test sets over the same users and items.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The name in the catalogue, or the file name.
    pub name: String,
    /// Original user ids.
    pub users: IdMap,
    /// Original item ids.
    pub items: IdMap,
    /// The training set.
    pub train: Interactions,
    /// The validation set, on which epochs and settings are chosen; may be empty.
    pub valid: Interactions,
    /// The test set; may be empty.
    pub test: Interactions,
    /// SHA-256 of the three parts and the id maps, in hex: data sets with the same checksum are identical.
    pub checksum: String,
    /// Messages for the user about how the data were read: merged duplicates, unseen test items…
    pub notes: Vec<String>,
    /// What makes figures on these data misleading.
    pub warnings: Vec<String>,
    /// How the sets were chosen; `None` if they were given to [`Dataset::new`].
    pub split: Option<AppliedSplit>,
    /// The rows of the source that were left out because they could not be read.
    pub skipped: SkippedRows,
    /// Where the other rows are, if the three sets have those of some users only: [`load_share`](crate::load_share()).
    pub(crate) share: Option<ShareSource>,
}

impl Dataset {
    /// Creates a data set from its parts.
    ///
    /// ```
    /// use rivalry_data::{Dataset, IdMap, Interactions, Parts};
    /// let (users, items): (IdMap, IdMap) = (["ann", "bob"].iter().collect(), ["tea", "milk"].iter().collect());
    /// let empty = Interactions::empty(2, 2);
    /// let train = Interactions::from_pairs(2, 2, [(0, 0), (1, 1)]);
    /// let parts = Parts { train, valid: empty.clone(), test: empty };
    /// let dataset = Dataset::new("drinks", users, items, parts, vec![]).unwrap();
    /// assert_eq!(dataset.checksum.len(), 64);
    /// ```
    ///
    /// # Errors
    /// If the parts don't have as many users and items as there are ids.
    pub fn new(
        name: &str,
        users: IdMap,
        items: IdMap,
        parts: Parts<Interactions>,
        notes: Vec<String>,
    ) -> Result<Self> {
        let size = (users.len(), items.len());
        if let Some(part) = parts.as_ref().into_iter().find(|part| (part.n_users(), part.n_items()) != size) {
            let (n_users, n_items) = (part.n_users(), part.n_items());
            let message = format!(
                "a part has {n_users} users and {n_items} items, but there are ids for {} and {}",
                size.0, size.1
            );
            return Err(InputError::new(message).help("build all parts for the same users and items").into());
        }
        let checksum = checksum(&users, &items, parts.as_ref());
        let Parts { train, valid, test } = parts;
        let (name, skipped) = (name.to_owned(), SkippedRows::default());
        let (warnings, split, share) = (Vec::new(), None, None);
        Ok(Self { name, users, items, train, valid, test, checksum, notes, warnings, split, skipped, share })
    }

    /// The data set with the rows of all users. If only those of some are here, the others are read.
    ///
    /// # Errors
    /// If the files have gone or changed since.
    pub fn whole(&self) -> Result<Cow<'_, Self>> {
        let Some(source) = &self.share else { return Ok(Cow::Borrowed(self)) };
        let Parts { train, valid, test } = source.whole(self.parts())?;
        Ok(Cow::Owned(Self { train, valid, test, share: None, ..self.clone() }))
    }

    /// The three parts.
    pub fn parts(&self) -> Parts<&Interactions> {
        Parts { train: &self.train, valid: &self.valid, test: &self.test }
    }

    /// Checks that these are the data a run was trained on.
    ///
    /// # Errors
    /// If `checksum`, which the run recorded, is not that of this data set.
    pub fn check_same(&self, checksum: &str) -> Result<()> {
        if self.checksum == checksum {
            return Ok(());
        }
        Err(InputError::new(format!("the data '{}' has changed since the run was trained", self.name))
            .help("restore the original data, or train a new run on these")
            .into())
    }
}

/// The [`Dataset::checksum`] of these parts.
fn checksum(users: &IdMap, items: &IdMap, parts: Parts<&Interactions>) -> String {
    let mut checksum = DataChecksum::default();
    checksum.add_ids(users.len(), users.iter());
    checksum.add_ids(items.len(), items.iter());
    parts.into_iter().for_each(|part| checksum.add_rows(part));
    checksum.hex()
}

/// Computes a [`Dataset::checksum`] from user ids, item ids, and the rows of the training, the validation and the test set, in
/// this order. Every list is preceded by its length, so that different data sets never hash the same bytes.
#[derive(Default)]
pub(crate) struct DataChecksum {
    hasher: Hasher,
    /// Lists are short: hashing each by itself would take longer than hashing the bytes.
    pending: Vec<u8>,
}

impl DataChecksum {
    /// Adds a list of ids.
    pub fn add_ids<'i>(&mut self, len: usize, ids: impl Iterator<Item = &'i str>) {
        self.add((len as u64).to_le_bytes());
        for id in ids {
            self.add((id.len() as u64).to_le_bytes());
            self.add(id.as_bytes());
        }
    }

    /// Adds rows of a set.
    pub fn add_rows(&mut self, part: &Interactions) {
        for user in 0..part.n_users() as u32 {
            put_row(part.items_of(user), &mut self.pending);
            self.flush(1 << 16);
        }
    }

    /// Adds rows as [`put_row`] writes them, or a part of these bytes.
    pub fn add(&mut self, bytes: impl AsRef<[u8]>) {
        self.pending.extend_from_slice(bytes.as_ref());
        self.flush(1 << 16);
    }

    fn flush(&mut self, limit: usize) {
        if self.pending.len() >= limit {
            self.hasher.update(&self.pending);
            self.pending.clear();
        }
    }

    pub fn hex(mut self) -> String {
        self.flush(0);
        self.hasher.hex()
    }
}

/// The bytes of a user's row in a checksum.
pub(crate) fn put_row(row: &[u32], bytes: &mut Vec<u8>) {
    bytes.extend((row.len() as u64).to_le_bytes());
    bytes.extend(row.iter().flat_map(|item| item.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_depends_on_every_part_and_every_id() {
        let ids = |list: &[&str]| list.iter().collect::<IdMap>();
        let (users, items) = (ids(&["a", "b"]), ids(&["x", "yz"]));
        let part = |pairs: &[(u32, u32)]| Interactions::from_pairs(2, 2, pairs.iter().copied());
        let (one, other) = (part(&[(0, 0), (1, 1)]), part(&[(0, 0), (0, 1)]));
        let same = Parts { train: &one, valid: &one, test: &one };
        let base = checksum(&users, &items, same);
        assert_eq!(base, checksum(&users, &items, same));
        assert_eq!(base.len(), 64);
        for changed in [
            checksum(&users, &items, Parts { train: &other, ..same }),
            checksum(&users, &items, Parts { valid: &other, ..same }),
            checksum(&users, &items, Parts { test: &other, ..same }),
            checksum(&ids(&["a", "c"]), &items, same),
            checksum(&users, &ids(&["xy", "z"]), same),
        ] {
            assert_ne!(base, changed);
        }
    }

    #[test]
    fn parts_of_another_size_are_refused() {
        let ids = || ["a", "b"].iter().collect::<IdMap>();
        let (right, wrong) = (Interactions::empty(2, 2), Interactions::empty(2, 3));
        let parts = Parts { train: right.clone(), valid: wrong, test: right };
        let error = Dataset::new("set", ids(), ids(), parts, vec![]).unwrap_err().to_string();
        assert!(
            error.starts_with("a part has 2 users and 3 items, but there are ids for 2 and 2"),
            "{error}"
        );
    }
}
