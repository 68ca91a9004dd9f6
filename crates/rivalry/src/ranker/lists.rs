//! Ranked lists, stored in a few long vectors: nothing is allocated per user.

/// Ranked lists with the same maximum length, one per query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankedLists {
    k: usize,
    queries: Vec<u32>,
    lens: Vec<u32>,
    items: Vec<u32>,
    scores: Vec<f32>,
}

impl RankedLists {
    /// Empty lists for these queries, to be filled in.
    pub(super) fn new(queries: &[u32], k: usize) -> Self {
        let n = queries.len();
        Self {
            k,
            queries: queries.to_vec(),
            lens: vec![0; n],
            items: vec![0; n * k],
            scores: vec![0.0; n * k],
        }
    }

    /// The lists, in blocks of so many queries, to be filled in.
    pub(super) fn blocks_mut(&mut self, queries: usize) -> impl Iterator<Item = BlockMut<'_>> {
        let k = self.k;
        let lists = self.items.chunks_mut(queries * k).zip(self.scores.chunks_mut(queries * k));
        let blocks = self.queries.chunks(queries).zip(self.lens.chunks_mut(queries)).zip(lists);
        blocks.map(move |((queries, lens), (items, scores))| BlockMut { k, queries, lens, items, scores })
    }

    /// Appends lists of the same maximum length.
    pub fn append(&mut self, mut other: Self) {
        if self.queries.is_empty() {
            self.k = other.k;
        }
        if other.queries.is_empty() {
            return;
        }
        assert_eq!(self.k, other.k, "lists of another length");
        self.queries.append(&mut other.queries);
        self.lens.append(&mut other.lens);
        self.items.append(&mut other.items);
        self.scores.append(&mut other.scores);
    }

    /// The maximum length.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The queries that the lists are for, in the order they were asked for: users, or items whose neighbours these are.
    pub fn queries(&self) -> &[u32] {
        &self.queries
    }

    /// The `n`-th list, best first. It is shorter than the maximum length if fewer candidates were left.
    pub fn items(&self, n: usize) -> &[u32] {
        &self.items[n * self.k..][..self.lens[n] as usize]
    }

    /// The scores that go with [`items`](Self::items).
    pub fn scores(&self, n: usize) -> &[f32] {
        &self.scores[n * self.k..][..self.lens[n] as usize]
    }

    /// The `n`-th list with its scores, best first.
    pub fn list(&self, n: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        self.items(n).iter().copied().zip(self.scores(n).iter().copied())
    }
}

/// The lists of a block of queries, to be filled in.
pub(super) struct BlockMut<'a> {
    k: usize,
    pub queries: &'a [u32],
    lens: &'a mut [u32],
    items: &'a mut [u32],
    scores: &'a mut [f32],
}

impl BlockMut<'_> {
    /// The maximum length of a list.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Fills in the `n`-th list of the block.
    pub fn set(&mut self, n: usize, best: impl Iterator<Item = (u32, f32)>) {
        let mut len = 0;
        for (place, (item, score)) in (n * self.k..).zip(best) {
            (self.items[place], self.scores[place]) = (item, score);
            len += 1;
        }
        self.lens[n] = len;
    }
}
