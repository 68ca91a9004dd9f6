//! Ids that are text, distributed by their hashes to shards, each with a table of its own.
//!
//! Shards are filled side by side, each with its own ids in the order of the file; its table is in the cache meanwhile. Which
//! shard an id goes to differs from run to run, its dense id doesn't.

use foldhash::quality::RandomState;
use rayon::prelude::*;

use super::shard::{Key, LongIds, ShortIds, long_hash, short_hash, short_key, with_text};
use crate::IdMap;

/// The number of shards for short ids, and of those for long ones.
const SHARDS: usize = 64;
/// All shards: first those for short ids.
const ALL: usize = 2 * SHARDS;
/// Marks the place of a text that is not in the block.
const COPIED: u64 = 1 << 31;

/// The ids of one chunk.
pub(in crate::read) struct TextChunk {
    hasher: RandomState,
    /// Where the chunk begins in its block.
    start: usize,
    /// The shard of each row.
    shards: Vec<u8>,
    /// The ids, by row and then by shard: a short one itself, of a long one its hash, its length (in the high half) and
    /// where it begins, counted from the start of the chunk or in `copied`.
    ids: Vec<Key>,
    /// Where each shard's ids end.
    ends: Vec<u32>,
    /// Long ids that don't stand in the block as they are.
    copied: String,
}

impl TextChunk {
    pub fn new(hasher: RandomState, start: usize) -> Self {
        let (shards, ids, copied) = (Vec::new(), Vec::new(), String::new());
        Self { hasher, start, shards, ids, ends: vec![0; ALL], copied }
    }

    /// Adds an id that stands in the block. `None` if it is too long, or too far from the start of the chunk.
    pub fn push(&mut self, text: &str, start: usize, end: usize) -> Option<()> {
        match short_key(text.as_bytes(), start..end) {
            Some(key) => self.add_short(key),
            None => {
                let place = (start - self.start) as u64;
                (place < COPIED).then(|| self.add_long(&text[start..end], place))?
            }
        }
    }

    /// Adds an id by copying it. `None` if it is too long, or there are too many.
    pub fn push_copy(&mut self, id: &str) -> Option<()> {
        match short_key(id.as_bytes(), 0..id.len()) {
            Some(key) => self.add_short(key),
            None => {
                let place = self.copied.len() as u64;
                self.copied.push_str(id);
                (place < COPIED).then(|| self.add_long(id, place | COPIED))?
            }
        }
    }

    #[cfg(feature = "parquet")]
    pub fn len(&self) -> usize {
        self.shards.len()
    }

    fn add_short(&mut self, key: Key) -> Option<()> {
        self.shards.push(shard_of(short_hash(&self.hasher, key)));
        self.ids.push(key);
        Some(())
    }

    fn add_long(&mut self, id: &str, place: u64) -> Option<()> {
        let hash = long_hash(&self.hasher, id);
        let length = u64::from(u32::try_from(id.len()).ok()?);
        self.shards.push(shard_of(hash) | SHARDS as u8);
        self.ids.push([hash, length << 32 | place]);
        Some(())
    }

    /// Sorts the ids by shard, keeping the order within each.
    pub fn seal(&mut self) {
        self.shards.iter().for_each(|&shard| self.ends[usize::from(shard)] += 1);
        let (mut places, mut end) = ([0; ALL], 0);
        for (place, size) in places.iter_mut().zip(&mut self.ends) {
            *place = end;
            end += *size;
            *size = end;
        }
        let mut sorted = vec![Key::default(); self.ids.len()];
        for (id, &shard) in self.ids.iter().zip(&self.shards) {
            let place = &mut places[usize::from(shard)];
            sorted[*place as usize] = *id;
            *place += 1;
        }
        self.ids = sorted;
    }

    /// The ids of one shard.
    fn of_shard(&self, shard: usize) -> &[Key] {
        let start = if shard == 0 { 0 } else { self.ends[shard - 1] };
        &self.ids[start as usize..self.ends[shard] as usize]
    }

    /// The text of a long id.
    fn long<'c>(&'c self, block: &'c str, [_, place]: Key) -> &'c str {
        let (length, start) = ((place >> 32) as usize, (place as u32 & !(COPIED as u32)) as usize);
        let text = if place & COPIED == 0 { &block[self.start..] } else { &self.copied };
        &text[start..start + length]
    }
}

/// The tables take the lowest and the highest bits of a hash, the shards some between.
fn shard_of(hash: u64) -> u8 {
    (hash >> 40) as u8 % SHARDS as u8
}

/// All ids of a column.
pub(super) struct Shards {
    pub hasher: RandomState,
    shards: Vec<Shard>,
    /// The shard of each dense id and its number there.
    order: Vec<(u32, u32)>,
}

struct Shard {
    ids: Ids,
    /// Dense ids; `u32::MAX` for those that have none yet.
    dense: Vec<u32>,
    /// The numbers of the ids of the last block, in order.
    rows: Vec<u32>,
}

enum Ids {
    Short(ShortIds),
    Long(LongIds),
}

impl Shards {
    /// Starts with ids that have been assigned already.
    pub fn of(ids: &IdMap) -> Option<Self> {
        let shard = |number: usize| {
            let short = number < SHARDS;
            let ids = if short { Ids::Short(ShortIds::default()) } else { Ids::Long(LongIds::default()) };
            Shard { ids, dense: Vec::new(), rows: Vec::new() }
        };
        let (hasher, shards) = (RandomState::default(), (0..ALL).map(shard).collect());
        let mut new = Self { hasher: hasher.clone(), shards, order: Vec::new() };
        let mut chunk = TextChunk::new(hasher, 0);
        ids.iter().try_for_each(|id| chunk.push_copy(id))?;
        chunk.seal();
        // In the order of their dense ids, so these are assigned again.
        new.append("", &[chunk], &mut Vec::new())?;
        Some(new)
    }

    /// Adds the dense ids of the chunks of a block to a column. `None` if there are too many different ones.
    pub fn append(&mut self, block: &str, chunks: &[TextChunk], column: &mut Vec<u32>) -> Option<()> {
        let hasher = &self.hasher;
        self.shards.par_iter_mut().enumerate().for_each(|(number, Shard { ids, dense, rows })| {
            rows.clear();
            for chunk in chunks {
                let found = chunk.of_shard(number);
                match ids {
                    Ids::Short(ids) => rows.extend(found.iter().map(|&key| ids.intern(hasher, key))),
                    Ids::Long(ids) => {
                        rows.extend(found.iter().map(|&key| ids.intern(key[0], chunk.long(block, key))));
                    }
                }
            }
            let known = rows.iter().max().map_or(0, |&row| row as usize + 1);
            dense.resize(dense.len().max(known), u32::MAX);
        });
        let mut next = [0; ALL];
        column.reserve(chunks.iter().map(|chunk| chunk.shards.len()).sum());
        for &number in chunks.iter().flat_map(|chunk| &chunk.shards) {
            let (shard, next) = (&mut self.shards[usize::from(number)], &mut next[usize::from(number)]);
            let row = shard.rows[*next];
            *next += 1;
            let dense = &mut shard.dense[row as usize];
            if *dense == u32::MAX {
                *dense = u32::try_from(self.order.len()).ok().filter(|dense| *dense != u32::MAX)?;
                self.order.push((number.into(), row));
            }
            column.push(*dense);
        }
        Some(())
    }

    /// About how much memory the ids take.
    pub fn bytes(&self) -> usize {
        let shard = |shard: &Shard| {
            let ids = match &shard.ids {
                Ids::Short(ids) => ids.bytes(),
                Ids::Long(ids) => ids.bytes(),
            };
            ids + 4 * shard.dense.capacity()
        };
        8 * self.order.capacity() + self.shards.iter().map(shard).sum::<usize>()
    }

    pub fn finish(self) -> IdMap {
        let Self { shards, order, .. } = self;
        let keys: Vec<Vec<Key>> = shards
            .par_iter()
            .map(|shard| if let Ids::Short(ids) = &shard.ids { ids.in_order() } else { Vec::new() })
            .collect();
        let mut map = IdMap::default();
        for (shard, number) in order {
            match &shards[shard as usize].ids {
                Ids::Short(_) => with_text(keys[shard as usize][number as usize], |id| map.push(id)),
                Ids::Long(ids) => map.push(ids.id(number)),
            }
        }
        map
    }
}
