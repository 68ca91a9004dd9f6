//! The items of a step: listed, and numbered by their places in the list.

use super::item_set::ItemSet;

/// Different items in ascending order, and the place of each.
#[derive(Default)]
pub(super) struct ItemList {
    set: ItemSet,
    items: Vec<u32>,
    /// For each item of the list its place; anything for the others.
    places: Vec<u32>,
}

impl ItemList {
    /// Lists these items of a catalogue of `n_items`, each once.
    pub fn set(&mut self, n_items: usize, items: impl Iterator<Item = u32>) {
        self.set.reserve(n_items);
        items.for_each(|item| self.set.insert(item));
        self.set.drain_into(&mut self.items);
    }

    /// The items, ascending.
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    /// A function from an item of the list to its place.
    pub fn numbering(&mut self) -> impl Fn(&mut u32) + Copy + Sync + '_ {
        let Self { items, places, .. } = self;
        places.resize(places.len().max(items.last().map_or(0, |&last| last as usize + 1)), 0);
        (0..).zip(&*items).for_each(|(place, &item)| places[item as usize] = place);
        let places = &*places;
        move |item| *item = places[*item as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_numbered_in_their_order() {
        let mut list = ItemList::default();
        for (n_items, items, places) in
            [(9, vec![7, 2, 7, 4], [2, 0, 2, 1]), (99, vec![5, 98, 5, 3], [1, 2, 1, 0])]
        {
            list.set(n_items, items.iter().copied());
            let (mut numbered, listed) = (items.clone(), list.items().to_vec());
            numbered.iter_mut().for_each(list.numbering());
            assert_eq!(numbered, places);
            assert!(places.iter().zip(items).all(|(&place, item)| listed[place as usize] == item));
        }
    }
}
