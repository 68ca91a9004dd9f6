//! Ids that are text, distributed by their hashes to shards, each with a table of its own.
//!
//! Shards are filled side by side, each with its own ids in the order of the file; a table of a few thousand ids stays in
//! the cache meanwhile. Which shard an id goes to differs from run to run, its dense id doesn't.

use std::hash::{BuildHasher, Hasher};

use foldhash::quality::RandomState;
use hashbrown::HashTable;
use rayon::prelude::*;

use crate::IdMap;

const SHARDS: usize = 64;
/// Marks the place of a text that is not in the block.
const COPIED: u32 = 1 << 31;

/// The ids of one chunk.
pub(super) struct TextChunk {
    hasher: RandomState,
    /// Where the chunk begins in its block.
    start: usize,
    /// The shard of each row.
    shards: Vec<u8>,
    /// The ids: by row, then by shard.
    found: Vec<Found>,
    /// Where each shard's ids end.
    ends: [u32; SHARDS],
    /// Ids that don't stand in the block as they are.
    copied: String,
}

#[derive(Clone, Copy, Default)]
struct Found {
    hash: u64,
    /// Where the text begins, counted from the start of the chunk, or in `copied`.
    start: u32,
    length: u32,
}

impl TextChunk {
    pub fn new(hasher: RandomState, start: usize) -> Self {
        let (shards, found, copied) = (Vec::new(), Vec::new(), String::new());
        Self { hasher, start, shards, found, ends: [0; SHARDS], copied }
    }

    /// Adds an id that stands in the block. `None` if it is too far from the start of the chunk.
    pub fn push(&mut self, text: &str, start: usize, end: usize) -> Option<()> {
        let place = u32::try_from(start - self.start).ok().filter(|place| *place < COPIED)?;
        self.add(&text[start..end], place)
    }

    /// Adds an id by copying it. `None` if there are too many.
    pub fn push_copy(&mut self, id: &str) -> Option<()> {
        let place = u32::try_from(self.copied.len()).ok().filter(|place| *place < COPIED)?;
        self.copied.push_str(id);
        self.add(id, place | COPIED)
    }

    fn add(&mut self, id: &str, start: u32) -> Option<()> {
        let hash = hash(&self.hasher, id);
        self.shards.push(shard_of(hash) as u8);
        self.found.push(Found { hash, start, length: u32::try_from(id.len()).ok()? });
        Some(())
    }

    /// Sorts the ids by shard, keeping the order within each.
    pub fn seal(&mut self) {
        let mut places = [0; SHARDS];
        self.shards.iter().for_each(|&shard| self.ends[usize::from(shard)] += 1);
        for shard in 1..SHARDS {
            places[shard] = self.ends[shard - 1];
            self.ends[shard] += self.ends[shard - 1];
        }
        let mut sorted = vec![Found::default(); self.found.len()];
        for (found, &shard) in self.found.iter().zip(&self.shards) {
            let place = &mut places[usize::from(shard)];
            sorted[*place as usize] = *found;
            *place += 1;
        }
        self.found = sorted;
    }

    /// The ids of one shard, with their hashes.
    fn of_shard<'c>(&'c self, shard: usize, block: &'c str) -> impl Iterator<Item = (u64, &'c str)> {
        let start = if shard == 0 { 0 } else { self.ends[shard - 1] as usize };
        self.found[start..self.ends[shard] as usize].iter().map(move |found| {
            let (text, start) = match found.start & COPIED {
                0 => (block, self.start + found.start as usize),
                _ => (&*self.copied, (found.start & !COPIED) as usize),
            };
            (found.hash, &text[start..start + found.length as usize])
        })
    }
}

fn hash(hasher: &RandomState, id: &str) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write(id.as_bytes());
    hasher.finish()
}

/// The tables take the lowest and the highest bits of a hash, the shards some between.
fn shard_of(hash: u64) -> usize {
    (hash >> 40) as usize % SHARDS
}

/// All ids of a column.
pub(super) struct Shards {
    pub hasher: RandomState,
    shards: Vec<Shard>,
    /// The shard of each dense id and its number there.
    order: Vec<(u32, u32)>,
}

#[derive(Default)]
struct Shard {
    /// The numbers of the ids.
    table: HashTable<u32>,
    hashes: Vec<u64>,
    text: String,
    ends: Vec<usize>,
    /// Dense ids; `u32::MAX` for those that have none yet.
    dense: Vec<u32>,
    /// The numbers of the ids of the last chunks, in order.
    rows: Vec<u32>,
}

impl Shards {
    /// Starts with ids that have been assigned already.
    pub fn of(ids: &IdMap) -> Self {
        let shards = (0..SHARDS).map(|_| Shard::default()).collect();
        let mut new = Self { hasher: RandomState::default(), shards, order: Vec::with_capacity(ids.len()) };
        for (dense, id) in (0..).zip(ids.iter()) {
            let hash = hash(&new.hasher, id);
            let shard = shard_of(hash);
            let number = new.shards[shard].intern(hash, id);
            new.shards[shard].dense[number as usize] = dense;
            new.order.push((shard as u32, number));
        }
        new
    }

    /// Adds the dense ids of the chunks of a block to a column. `None` if there are too many different ones.
    pub fn append(&mut self, block: &str, chunks: &[TextChunk], column: &mut Vec<u32>) -> Option<()> {
        self.shards.par_iter_mut().enumerate().for_each(|(number, shard)| {
            shard.rows.clear();
            for (hash, id) in chunks.iter().flat_map(|chunk| chunk.of_shard(number, block)) {
                let row = shard.intern(hash, id);
                shard.rows.push(row);
            }
        });
        let mut next = [0; SHARDS];
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

    pub fn finish(self) -> IdMap {
        self.order.iter().map(|&(shard, number)| self.shards[shard as usize].id(number)).collect()
    }
}

impl Shard {
    fn id(&self, number: u32) -> &str {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }

    fn intern(&mut self, hash: u64, id: &str) -> u32 {
        let same = |&number: &u32| self.hashes[number as usize] == hash && self.id(number) == id;
        if let Some(&number) = self.table.find(hash, same) {
            return number;
        }
        let number = self.hashes.len() as u32;
        self.hashes.push(hash);
        self.text.push_str(id);
        self.ends.push(self.text.len());
        self.dense.push(u32::MAX);
        self.table.insert_unique(hash, number, |&number| self.hashes[number as usize]);
        number
    }
}
