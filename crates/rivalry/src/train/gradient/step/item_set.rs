//! A set of items, one bit each.

/// A set of items of a catalogue.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemSet {
    words: Vec<u64>,
}

impl ItemSet {
    /// Makes room for the items of a catalogue of that size.
    pub fn reserve(&mut self, n_items: usize) {
        if self.words.len() < n_items.div_ceil(64) {
            self.words.resize(n_items.div_ceil(64), 0);
        }
    }

    pub fn insert(&mut self, item: u32) {
        self.words[item as usize / 64] |= 1 << (item % 64);
    }

    pub fn remove(&mut self, item: u32) {
        self.words[item as usize / 64] &= !(1 << (item % 64));
    }

    pub fn contains(&self, item: u32) -> bool {
        self.words[item as usize / 64] >> (item % 64) & 1 == 1
    }

    /// Moves all items into `out`, ascending; the set is empty afterwards.
    pub fn drain_into(&mut self, out: &mut Vec<u32>) {
        out.clear();
        for (word, bits) in (0..).zip(&mut self.words) {
            while *bits != 0 {
                out.push(word * 64 + bits.trailing_zeros());
                *bits &= *bits - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_out_ascending_and_each_once() {
        let (mut set, mut out) = (ItemSet::default(), Vec::new());
        set.reserve(200);
        for item in [130, 3, 64, 3, 199, 63, 7] {
            set.insert(item);
        }
        set.remove(7);
        assert!(set.contains(64) && !set.contains(65) && !set.contains(7));
        set.drain_into(&mut out);
        assert_eq!(out, [3, 63, 64, 130, 199]);
        set.drain_into(&mut out);
        assert!(out.is_empty());
    }
}
