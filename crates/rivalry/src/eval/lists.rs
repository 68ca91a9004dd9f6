//! Ranked lists, all in a few long vectors: nothing is allocated for each user.

/// Ranked lists of the same nominal length, one for each target user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lists {
    pub(super) k: usize,
    pub(super) users: Vec<u32>,
    pub(super) lens: Vec<u32>,
    pub(super) items: Vec<u32>,
    pub(super) scores: Vec<f32>,
}

impl Lists {
    /// Adds lists of the same nominal length for more users.
    pub(super) fn append(&mut self, mut more: Self) {
        debug_assert_eq!(self.k, more.k);
        self.users.append(&mut more.users);
        self.lens.append(&mut more.lens);
        self.items.append(&mut more.items);
        self.scores.append(&mut more.scores);
    }

    /// The users the lists are for, in the order they were asked for.
    pub fn users(&self) -> &[u32] {
        &self.users
    }

    /// The list of the `n`-th of these users, best first: shorter than `k` if the mask left fewer items.
    pub fn items(&self, n: usize) -> &[u32] {
        &self.items[n * self.k..][..self.lens[n] as usize]
    }

    /// The scores that go with [`items`](Self::items).
    pub fn scores(&self, n: usize) -> &[f32] {
        &self.scores[n * self.k..][..self.lens[n] as usize]
    }
}
