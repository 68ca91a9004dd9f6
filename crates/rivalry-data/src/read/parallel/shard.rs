//! The tables of a shard: short ids are compared as two numbers, long ones as text.

use std::hash::{BuildHasher, Hasher};
use std::ops::Range;

use foldhash::quality::RandomState;
use hashbrown::HashTable;

/// A short id: its bytes, filled up with zeros, and its length in the last byte. No two ids have the same key.
pub(super) type Key = [u64; 2];

/// The number of bytes of the longest short id.
const SHORT: usize = 15;

/// The key of the id at a place, if it is short.
pub(super) fn short_key(bytes: &[u8], place: Range<usize>) -> Option<Key> {
    let length = place.len();
    if length > SHORT {
        return None;
    }
    let key = match bytes[place.start..].first_chunk::<16>() {
        Some(chunk) => u128::from_le_bytes(*chunk) & ((1 << (8 * length)) - 1),
        None => {
            let mut padded = [0; 16];
            padded[..length].copy_from_slice(&bytes[place]);
            u128::from_le_bytes(padded)
        }
    };
    let key = key | (length as u128) << 120;
    Some([key as u64, (key >> 64) as u64])
}

/// Calls `f` with the text of a short id.
pub(super) fn with_text<T>([low, high]: Key, f: impl FnOnce(&str) -> T) -> T {
    let bytes = (u128::from(low) | u128::from(high) << 64).to_le_bytes();
    // It was text before.
    f(std::str::from_utf8(&bytes[..usize::from(bytes[SHORT])]).unwrap_or_default())
}

pub(super) fn short_hash(hasher: &RandomState, [low, high]: Key) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write_u64(low);
    hasher.write_u64(high);
    hasher.finish()
}

pub(super) fn long_hash(hasher: &RandomState, id: &str) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write(id.as_bytes());
    hasher.finish()
}

/// The memory of a hash table with this capacity: a slot has one byte besides its content, and one in eight is free.
fn slots<T>(capacity: usize) -> usize {
    capacity * (size_of::<T>() + 1) * 8 / 7
}

/// Short ids and their numbers.
#[derive(Default)]
pub(super) struct ShortIds(HashTable<(Key, u32)>);

impl ShortIds {
    /// The number of an id, a new one if it wasn't seen before.
    pub fn intern(&mut self, hasher: &RandomState, key: Key) -> u32 {
        let hash = short_hash(hasher, key);
        if let Some((_, number)) = self.0.find(hash, |(other, _)| *other == key) {
            return *number;
        }
        let number = self.0.len() as u32;
        self.0.insert_unique(hash, (key, number), |(key, _)| short_hash(hasher, *key));
        number
    }

    /// About how much memory they take.
    pub fn bytes(&self) -> usize {
        slots::<(Key, u32)>(self.0.capacity())
    }

    /// The ids by their numbers.
    pub fn in_order(&self) -> Vec<Key> {
        let mut keys = vec![Key::default(); self.0.len()];
        self.0.iter().for_each(|(key, number)| keys[*number as usize] = *key);
        keys
    }
}

/// Long ids and their numbers.
#[derive(Default)]
pub(super) struct LongIds {
    /// Hashes and numbers.
    table: HashTable<(u64, u32)>,
    text: String,
    ends: Vec<usize>,
}

impl LongIds {
    /// The number of an id, a new one if it wasn't seen before.
    pub fn intern(&mut self, hash: u64, id: &str) -> u32 {
        let same = |other: &(u64, u32)| other.0 == hash && self.id(other.1) == id;
        if let Some((_, number)) = self.table.find(hash, same) {
            return *number;
        }
        let number = self.ends.len() as u32;
        self.text.push_str(id);
        self.ends.push(self.text.len());
        self.table.insert_unique(hash, (hash, number), |(hash, _)| *hash);
        number
    }

    /// About how much memory they take.
    pub fn bytes(&self) -> usize {
        slots::<(u64, u32)>(self.table.capacity()) + self.text.capacity() + 8 * self.ends.capacity()
    }

    /// The id with a number.
    pub fn id(&self, number: u32) -> &str {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ids_have_keys_of_their_own() {
        let text = "a\0é, fifteen bytes, and some more to read";
        let mut seen = std::collections::HashMap::new();
        for start in (0..text.len()).filter(|&start| text.is_char_boundary(start)) {
            for end in (start..=text.len()).filter(|&end| text.is_char_boundary(end)) {
                let id = &text[start..end];
                match short_key(text.as_bytes(), start..end) {
                    Some(key) => {
                        assert_eq!(Some(key), short_key(id.as_bytes(), 0..id.len()));
                        assert_eq!(*seen.entry(key).or_insert(id), id);
                        with_text(key, |text| assert_eq!(text, id));
                    }
                    None => assert!(id.len() > 15),
                }
            }
        }
    }
}
