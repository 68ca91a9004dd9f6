//! A column of ids: as numbers while all of them are, otherwise as text.

use foldhash::quality::RandomState;

use super::numbers::{self, Numbers};
use super::row::{Field, number_of};
use super::shards::{Shards, TextChunk};
use crate::IdMap;

/// As what ids are read.
#[derive(Clone)]
pub(in crate::read) enum Kind {
    /// As numbers below 2³² in their usual form.
    Numbers,
    /// As text, with this hash function.
    Text(RandomState),
}

/// As what users and items are read.
pub(super) type Kinds = (Kind, Kind);

/// The ids of one chunk.
pub(in crate::read) enum IdChunk {
    Numbers(Vec<u32>),
    Text(TextChunk),
}

impl IdChunk {
    /// For the chunk that begins at `start`.
    pub fn new(kind: &Kind, start: usize) -> Self {
        match kind {
            Kind::Numbers => Self::Numbers(Vec::new()),
            Kind::Text(hasher) => Self::Text(TextChunk::new(hasher.clone(), start)),
        }
    }

    /// Adds an id as it stands in the text. `None` if it can't be added to this chunk.
    pub(super) fn push_field(&mut self, text: &str, field: Field) -> Option<()> {
        match (self, field) {
            (Self::Numbers(numbers), Field::Number(number)) => numbers.push(number),
            (Self::Text(ids), Field::Text(start, end)) => ids.push(text, start, end)?,
            _ => return None,
        }
        Some(())
    }

    /// Adds any id. `None` if it can't be added to this chunk.
    pub fn push_text(&mut self, id: &str) -> Option<()> {
        match self {
            Self::Numbers(numbers) => numbers.push(number_of(id)?),
            Self::Text(ids) => ids.push_copy(id)?,
        }
        Some(())
    }

    /// The number of ids.
    #[cfg(feature = "parquet")]
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Text(ids) => ids.len(),
        }
    }

    /// Nothing will be added any more.
    pub fn seal(&mut self) {
        if let Self::Text(ids) = self {
            ids.seal();
        }
    }
}

/// The ids of all chunks so far.
#[derive(Default)]
pub(in crate::read) struct IdColumn {
    /// Numbers, or dense ids if there are shards.
    ids: Vec<u32>,
    /// The largest number.
    largest: u32,
    /// The numbers that were taken out already; `None` if none were.
    taken: Option<Numbers>,
    shards: Option<Shards>,
}

impl IdColumn {
    pub fn kind(&self) -> Kind {
        self.shards.as_ref().map_or(Kind::Numbers, |shards| Kind::Text(shards.hasher.clone()))
    }

    /// From here on, ids may be any text. `None` if there are too many different ones.
    pub fn use_text(&mut self) -> Option<()> {
        if self.shards.is_none() {
            self.shards = Some(Shards::of(&IdMap::of_numbers(&self.numbers()))?);
        }
        Some(())
    }

    /// Replaces the numbers by dense ids, and returns all of them in the order of their dense ids.
    fn numbers(&mut self) -> Vec<u32> {
        match self.taken.take() {
            None => numbers::intern(&mut self.ids),
            Some(mut numbers) => {
                numbers.replace(&mut self.ids);
                numbers.in_order
            }
        }
    }

    /// Whether ids are numbers that are far apart, if there will be this many: then it is faster to read them as text.
    pub fn is_sparse(&self, rows: usize) -> bool {
        self.shards.is_none() && self.largest as usize >= numbers::table_size(rows)
    }

    /// Adds the ids of the chunks of a block, which are all of the column's present kind. `None` if there are too many
    /// different ones.
    pub fn append(&mut self, block: &str, chunks: Vec<IdChunk>) -> Option<()> {
        let Some(shards) = &mut self.shards else {
            for chunk in chunks {
                let IdChunk::Numbers(numbers) = chunk else { return None };
                self.largest = numbers.iter().fold(self.largest, |largest, &number| largest.max(number));
                self.ids.extend(numbers);
            }
            return Some(());
        };
        let text = |chunk| match chunk {
            IdChunk::Text(ids) => Some(ids),
            IdChunk::Numbers(_) => None,
        };
        let chunks: Vec<TextChunk> = chunks.into_iter().map(text).collect::<Option<_>>()?;
        shards.append(block, &chunks, &mut self.ids)
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Takes out the dense ids of the rows so far. Numbers below `limit` are looked up in a table.
    pub fn take(&mut self, limit: usize) -> Vec<u32> {
        let mut ids = std::mem::take(&mut self.ids);
        if self.shards.is_none() {
            self.taken.get_or_insert_with(|| Numbers::new(limit)).replace(&mut ids);
        }
        ids
    }

    /// About how much memory the different ids take.
    pub fn bytes(&self) -> usize {
        let numbers = self.taken.as_ref().map_or(0, Numbers::bytes);
        numbers + self.shards.as_ref().map_or(0, Shards::bytes)
    }

    /// The dense ids, as far as they were not taken out, and the original ones.
    pub fn finish(mut self) -> (Vec<u32>, IdMap) {
        let map = match self.shards.take() {
            Some(shards) => shards.finish(),
            None => IdMap::of_numbers(&self.numbers()),
        };
        (self.ids, map)
    }
}
