//! Which items may be in a list.

use std::ops::Range;

use super::top_k::mask;
use crate::data::Interactions;
use crate::scorer::ItemBlock;

/// The items that may be in the lists of a ranking.
#[derive(Clone, Default)]
pub(crate) struct Candidates<'a> {
    /// The number of all items.
    n_items: usize,
    /// The only items allowed, ascending; `None` allows all.
    allow: Option<&'a [u32]>,
    /// Items that no list may hold, ascending.
    deny: &'a [u32],
    /// Items that single lists may not hold.
    masks: Vec<Mask<'a>>,
}

/// Items that single lists may not hold, ascending for each list.
#[derive(Clone)]
pub(crate) enum Mask<'a> {
    /// The row of the list's user.
    OfUser(&'a Interactions, &'a [u32]),
    /// The row with the list's number.
    OfList(&'a Interactions),
    /// The query itself.
    Itself(&'a [u32]),
}

impl<'a> Candidates<'a> {
    /// All items.
    pub fn all(n_items: usize) -> Self {
        Self { n_items, ..Self::default() }
    }

    /// Only these items, ascending and each once; `None` allows all.
    pub fn allow(self, allow: Option<&'a [u32]>) -> Self {
        Self { allow, ..self }
    }

    /// Without these items, ascending.
    pub fn deny(self, deny: &'a [u32]) -> Self {
        Self { deny, ..self }
    }

    /// Without what the mask holds for each list.
    pub fn without(mut self, mask: Mask<'a>) -> Self {
        self.masks.push(mask);
        self
    }

    /// The number of items that are scored.
    pub fn len(&self) -> usize {
        self.allow.map_or(self.n_items, <[u32]>::len)
    }

    /// The items at these places.
    pub fn block(&self, places: Range<usize>) -> ItemBlock<'a> {
        match self.allow {
            None => ItemBlock::Range(places.start as u32..places.end as u32),
            Some(allow) => ItemBlock::Ids(&allow[places]),
        }
    }

    /// The item at a place.
    pub fn item(&self, place: u32) -> u32 {
        self.allow.map_or(place, |allow| allow[place as usize])
    }

    /// Sets to minus infinity the scores of the items that the list with this number may not hold.
    pub fn mask(&self, list: usize, items: &ItemBlock<'_>, scores: &mut [f32]) {
        if !self.deny.is_empty() {
            mask(scores, items, self.deny);
        }
        for source in &self.masks {
            let masked = match source {
                Mask::OfUser(table, users) => table.items_of(users[list]),
                Mask::OfList(table) => table.items_of(list as u32),
                Mask::Itself(queries) => &queries[list..=list],
            };
            mask(scores, items, masked);
        }
    }
}
