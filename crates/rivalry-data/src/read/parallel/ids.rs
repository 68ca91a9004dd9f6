//! A column of ids: as numbers while all of them are, otherwise as text.

use foldhash::quality::RandomState;

use super::numbers;
use super::row::{Field, number_of};
use super::shards::{Shards, TextChunk};
use crate::IdMap;

/// As what ids are read.
#[derive(Clone)]
pub(super) enum Kind {
    /// As numbers below 2³² in their usual form.
    Numbers,
    /// As text, with this hash function.
    Text(RandomState),
}

/// As what users and items are read.
pub(super) type Kinds = (Kind, Kind);

/// The ids of one chunk.
pub(super) enum IdChunk {
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
    pub fn push_field(&mut self, text: &str, field: Field) -> Option<()> {
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

    /// Nothing will be added any more.
    pub fn seal(&mut self) {
        if let Self::Text(ids) = self {
            ids.seal();
        }
    }
}

/// The ids of all chunks so far.
#[derive(Default)]
pub(super) struct IdColumn {
    /// Numbers, or dense ids if there are shards.
    ids: Vec<u32>,
    shards: Option<Shards>,
}

impl IdColumn {
    pub fn kind(&self) -> Kind {
        self.shards.as_ref().map_or(Kind::Numbers, |shards| Kind::Text(shards.hasher.clone()))
    }

    /// From here on, ids may be any text.
    pub fn use_text(&mut self) {
        self.shards.get_or_insert_with(|| Shards::of(&IdMap::of_numbers(&numbers::intern(&mut self.ids))));
    }

    /// Adds the ids of the chunks of a block, which are all of the column's present kind. `None` if there are too many
    /// different ones.
    pub fn append(&mut self, block: &str, chunks: Vec<IdChunk>) -> Option<()> {
        let Some(shards) = &mut self.shards else {
            for chunk in chunks {
                let IdChunk::Numbers(numbers) = chunk else { return None };
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

    /// The dense ids and the original ones.
    pub fn finish(mut self) -> (Vec<u32>, IdMap) {
        let map = match self.shards {
            Some(shards) => shards.finish(),
            None => IdMap::of_numbers(&numbers::intern(&mut self.ids)),
        };
        (self.ids, map)
    }
}
