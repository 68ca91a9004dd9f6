//! What a model is trained and judged on.

use super::{IdMap, Interactions, digest::Sum};
use crate::{InputError, Result};

/// A set of interactions cut into training, validation and test parts over the same users and items.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The name it was asked for by, or its file's name.
    pub name: String,
    /// Original user ids.
    pub users: IdMap,
    /// Original item ids.
    pub items: IdMap,
    /// What the model learns from.
    pub train: Interactions,
    /// What epochs and settings are chosen on; empty if nothing was held out for it.
    pub valid: Interactions,
    /// What is reported.
    pub test: Interactions,
    /// SHA-256 of the three parts and the id maps, in hex: two runs with the same value saw the same data.
    pub checksum: String,
    /// What the user should know about how the data were read: merged duplicates, unseen test items…
    pub notes: Vec<String>,
}

impl Dataset {
    /// A data set of these parts: training, validation, test.
    ///
    /// ```
    /// use rivalry::data::{Dataset, IdMap, Interactions};
    /// let (users, items): (IdMap, IdMap) = (["ann", "bob"].iter().collect(), ["tea", "milk"].iter().collect());
    /// let train = Interactions::from_pairs(2, 2, [(0, 0), (1, 1)]);
    /// let none = Interactions::empty(2, 2);
    /// let dataset = Dataset::new("drinks", users, items, [train, none.clone(), none], vec![]).unwrap();
    /// assert_eq!(dataset.checksum.len(), 64);
    /// ```
    ///
    /// # Errors
    /// If a part is not of that many users and items.
    pub fn new(
        name: &str,
        users: IdMap,
        items: IdMap,
        parts: [Interactions; 3],
        notes: Vec<String>,
    ) -> Result<Self> {
        let size = (users.len(), items.len());
        if let Some(part) = parts.iter().find(|part| (part.n_users(), part.n_items()) != size) {
            let (n_users, n_items) = (part.n_users(), part.n_items());
            let what = format!(
                "a part has {n_users} users and {n_items} items, where there are {} and {}",
                size.0, size.1
            );
            return Err(InputError::new(what).help("cut all parts from the same users and items").into());
        }
        let checksum = checksum(&users, &items, parts.each_ref());
        let [train, valid, test] = parts;
        Ok(Self { name: name.to_owned(), users, items, train, valid, test, checksum, notes })
    }

    /// Makes sure that these are the data with that checksum: what was learned from others doesn't fit them.
    pub fn check_same(&self, checksum: &str) -> Result<()> {
        if self.checksum == checksum {
            return Ok(());
        }
        Err(InputError::new(format!("the data '{}' are no longer those the run was trained on", self.name))
            .help("bring the old data back, or train a new run on these")
            .into())
    }
}

/// The [`Dataset::checksum`] of these parts. Every list is preceded by its length, so that no two different
/// data sets feed the sum the same bytes.
fn checksum(users: &IdMap, items: &IdMap, parts: [&Interactions; 3]) -> String {
    let mut sum = Sum::default();
    let mut bytes = Vec::new();
    for ids in [users, items] {
        sum.update(&(ids.len() as u64).to_le_bytes());
        for id in ids.iter() {
            sum.update(&(id.len() as u64).to_le_bytes());
            sum.update(id.as_bytes());
        }
    }
    for part in parts {
        for user in 0..part.n_users() as u32 {
            let row = part.items_of(user);
            bytes.clear();
            bytes.extend((row.len() as u64).to_le_bytes());
            bytes.extend(row.iter().flat_map(|item| item.to_le_bytes()));
            sum.update(&bytes);
        }
    }
    sum.hex()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_sees_every_part_and_every_id() {
        let ids = |list: &[&str]| list.iter().collect::<IdMap>();
        let (users, items) = (ids(&["a", "b"]), ids(&["x", "yz"]));
        let part = |pairs: &[(u32, u32)]| Interactions::from_pairs(2, 2, pairs.iter().copied());
        let (one, other) = (part(&[(0, 0), (1, 1)]), part(&[(0, 0), (0, 1)]));
        let base = checksum(&users, &items, [&one, &one, &one]);
        assert_eq!(base, checksum(&users, &items, [&one, &one, &one]));
        assert_eq!(base.len(), 64);
        for changed in [
            checksum(&users, &items, [&other, &one, &one]),
            checksum(&users, &items, [&one, &other, &one]),
            checksum(&users, &items, [&one, &one, &other]),
            checksum(&ids(&["a", "c"]), &items, [&one, &one, &one]),
            checksum(&users, &ids(&["xy", "z"]), [&one, &one, &one]),
        ] {
            assert_ne!(base, changed);
        }
    }
}
