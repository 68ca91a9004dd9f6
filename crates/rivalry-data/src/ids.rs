//! Maps between original ids and dense ones.

use std::fmt;
use std::hash::BuildHasher;
use std::sync::OnceLock;

use foldhash::quality::RandomState;
use hashbrown::HashTable;

use crate::InputError;

/// A two-way map between original ids and `0..len`.
///
/// All ids are stored in one string, so each costs its length and a few bytes.
#[derive(Clone, Default)]
pub struct IdMap {
    text: String,
    ends: Vec<usize>,
    /// Built on the first lookup of an original id, which many maps never see.
    index: OnceLock<Index>,
}

impl IdMap {
    /// Creates a map in which the n-th id has the dense id n.
    ///
    /// # Errors
    /// If an id occurs twice; the error is that id.
    pub fn try_from_unique<S: AsRef<str>>(ids: impl IntoIterator<Item = S>) -> Result<Self, String> {
        let map: Self = ids.into_iter().collect();
        let index = map.index.get_or_init(|| Index::of(&map));
        if index.dense.len() == map.len() {
            return Ok(map);
        }
        let repeated = (0..).zip(map.iter()).find(|&(dense, id)| map.dense(id) != Some(dense));
        Err(repeated.map_or_else(String::new, |(_, id)| id.to_owned()))
    }

    /// The number of ids.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no ids.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The original id of a dense one.
    ///
    /// # Panics
    /// If there is no such dense id.
    pub fn original(&self, dense: u32) -> &str {
        let dense = dense as usize;
        let start = if dense == 0 { 0 } else { self.ends[dense - 1] };
        &self.text[start..self.ends[dense]]
    }

    /// The dense id of an original one; the lowest if the map contains it more than once.
    pub fn dense(&self, original: &str) -> Option<u32> {
        self.index.get_or_init(|| Index::of(self)).find(self, original)
    }

    /// All original ids in dense order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone + '_ {
        (0..self.len() as u32).map(|dense| self.original(dense))
    }

    /// The map in which the n-th number has the dense id n.
    pub(crate) fn of_numbers(numbers: &[u32]) -> Self {
        let mut map = Self { ends: Vec::with_capacity(numbers.len()), ..Self::default() };
        let mut digits = [0; 10];
        for &number in numbers {
            map.push(std::str::from_utf8(decimal(number, &mut digits)).unwrap_or_default());
        }
        map
    }

    pub(crate) fn push(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }
}

/// The digits of a number.
pub(crate) fn decimal(number: u32, digits: &mut [u8; 10]) -> &[u8] {
    let (mut first, mut rest) = (digits.len(), number);
    while rest > 0 || first == digits.len() {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    &digits[first..]
}

impl<S: AsRef<str>> FromIterator<S> for IdMap {
    fn from_iter<I: IntoIterator<Item = S>>(ids: I) -> Self {
        let mut map = Self::default();
        for id in ids {
            map.push(id.as_ref());
        }
        map
    }
}

impl PartialEq for IdMap {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.ends == other.ends
    }
}

impl Eq for IdMap {}

impl fmt::Debug for IdMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Builds an [`IdMap`], assigning dense ids in order of appearance.
pub struct Interner {
    ids: IdMap,
    index: Index,
    limit: u32,
}

impl Default for Interner {
    fn default() -> Self {
        Self { ids: IdMap::default(), index: Index::default(), limit: u32::MAX }
    }
}

impl Interner {
    /// The dense id of `id`, a new one if it wasn't seen before.
    ///
    /// # Errors
    /// If there are more ids than fit into a `u32`.
    pub fn intern(&mut self, id: &str) -> Result<u32, InputError> {
        if let Some(dense) = self.index.find(&self.ids, id) {
            return Ok(dense);
        }
        if self.ids.len() >= self.limit as usize {
            return Err(InputError::new(format!("more than {} different ids", self.limit))
                .help("keep fewer users or items, for example by removing rare ones"));
        }
        let dense = self.ids.len() as u32;
        self.ids.push(id);
        self.index.insert(&self.ids, dense);
        Ok(dense)
    }

    /// About how much memory the ids take.
    #[cfg(feature = "parquet")]
    pub(crate) fn bytes(&self) -> usize {
        // A slot of a hash table is one byte more than its content, and one in eight is free.
        self.ids.text.capacity() + 8 * self.ids.ends.capacity() + self.index.dense.capacity() * 5 * 8 / 7
    }

    /// The finished map.
    pub fn finish(self) -> IdMap {
        IdMap { index: OnceLock::from(self.index), ..self.ids }
    }
}

/// A hash index from text to dense id. It stores the dense ids only; the text stays in the map.
#[derive(Clone, Default)]
struct Index {
    dense: HashTable<u32>,
    hasher: RandomState,
}

impl Index {
    fn of(ids: &IdMap) -> Self {
        let mut index = Self { dense: HashTable::with_capacity(ids.len()), hasher: RandomState::default() };
        for (dense, id) in (0..).zip(ids.iter()) {
            if index.find(ids, id).is_none() {
                index.insert(ids, dense);
            }
        }
        index
    }

    fn find(&self, ids: &IdMap, id: &str) -> Option<u32> {
        self.dense.find(self.hasher.hash_one(id), |&dense| ids.original(dense) == id).copied()
    }

    fn insert(&mut self, ids: &IdMap, dense: u32) {
        let hash = |&dense: &u32| self.hasher.hash_one(ids.original(dense));
        self.dense.insert_unique(hash(&dense), dense, hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbered_in_order_of_appearance_and_can_be_looked_up() {
        let mut interner = Interner::default();
        let dense: Vec<u32> =
            ["b", "a", "b", "", "ab"].iter().map(|id| interner.intern(id).unwrap()).collect();
        assert_eq!(dense, [0, 1, 0, 2, 3]);
        let map = interner.finish();
        assert_eq!(map.iter().collect::<Vec<_>>(), ["b", "a", "", "ab"]);
        assert_eq!((map.dense("ab"), map.dense("b"), map.dense("c")), (Some(3), Some(0), None));
    }

    #[test]
    fn numbers_are_written_in_decimal() {
        let numbers = [0, 7, 10, 4_294_967_295];
        let expected: IdMap = numbers.iter().map(|number: &u32| number.to_string()).collect();
        assert_eq!(IdMap::of_numbers(&numbers), expected);
    }

    #[test]
    fn a_large_map_works_in_both_directions() {
        let map: IdMap = (0..5000).map(|i| format!("id{i}")).collect();
        assert!((0..5000).all(|i| map.dense(map.original(i)) == Some(i)));
    }

    #[test]
    fn equality_and_debug_ignore_the_index() {
        let (indexed, fresh): (IdMap, IdMap) = (["x", "y"].iter().collect(), ["x", "y"].iter().collect());
        indexed.dense("x");
        assert_eq!(indexed, fresh);
        assert_eq!(format!("{indexed:?}"), r#"["x", "y"]"#);
        assert_ne!(fresh, ["xy", ""].iter().collect());
    }

    #[test]
    fn a_duplicate_id_is_named() {
        assert_eq!(IdMap::try_from_unique(["a", "b", "c", "b", "a"]), Err("b".to_owned()));
        assert_eq!(IdMap::try_from_unique(["a", "b"]).unwrap().dense("b"), Some(1));
        assert_eq!(["a", "b", "a"].iter().collect::<IdMap>().dense("a"), Some(0));
    }

    #[test]
    fn too_many_ids_are_an_error() {
        let mut interner = Interner { limit: 2, ..Interner::default() };
        assert_eq!([interner.intern("a").unwrap(), interner.intern("b").unwrap()], [0, 1]);
        assert_eq!(interner.intern("a").unwrap(), 0);
        assert!(interner.intern("c").unwrap_err().to_string().contains("more than 2 different ids"));
    }
}
