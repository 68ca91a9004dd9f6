//! The k-core of a file of pairs, and what the filters leave.

use super::pairs::{PairFile, PairWriter};
use super::{Budget, Entry, Progress};
use crate::Preparation;
use crate::error::Result;

/// Which users and items are left. A pair is left if both of its ends are.
pub(super) struct Kept {
    pub users: Vec<bool>,
    /// The number of users of each item.
    items: Vec<u32>,
    /// The number of pairs that are left.
    pub pairs: usize,
    user_core: usize,
    item_core: u32,
}

impl Kept {
    /// Without pairs.
    pub fn new(n_users: usize, n_items: usize, preparation: &Preparation) -> Self {
        let Preparation { user_core, item_core, .. } = *preparation;
        Self {
            users: vec![false; n_users],
            items: vec![0; n_items],
            pairs: 0,
            // Whoever has no pair is left out by any filter, and without one everybody has.
            user_core: user_core.max(1) as usize,
            item_core: item_core.max(1),
        }
    }

    /// Adds a pair.
    pub fn add(&mut self, entry: impl Entry) {
        self.users[entry.user()] = true;
        self.items[entry.item()] += 1;
        self.pairs += 1;
    }

    pub fn has(&self, entry: impl Entry) -> bool {
        self.users[entry.user()] && self.has_item(entry.item())
    }

    pub fn has_item(&self, item: usize) -> bool {
        self.items[item] >= self.item_core
    }

    /// The number of users and items that are left.
    pub fn remaining(&self) -> (usize, usize) {
        let items = (0..self.items.len()).filter(|&item| self.has_item(item)).count();
        (self.users.iter().filter(|user| **user).count(), items)
    }

    /// The new dense id of each item that is left.
    pub fn new_items(&self) -> Vec<u32> {
        let mut next = 0;
        (0..self.items.len()).map(|item| (next, next += u32::from(self.has_item(item))).0).collect()
    }

    /// Removes a user who has too few items that are left, and returns how many pairs of the user are left.
    fn visit<E: Entry>(&mut self, entries: &[E]) -> usize {
        let Some(user) = entries.first().map(|entry| entry.user()) else { return 0 };
        if !self.users[user] {
            return 0;
        }
        let left = entries.iter().filter(|entry| self.has_item(entry.item())).count();
        if left >= self.user_core {
            return left;
        }
        self.users[user] = false;
        for entry in entries {
            if self.has_item(entry.item()) {
                self.items[entry.item()] -= 1;
            }
        }
        0
    }
}

/// Finds the largest set of pairs in which every user and every item has enough of them. Each pass goes through all users;
/// an item that drops below its threshold counts no more for those that come later. The file is written anew when a good part
/// of it is gone.
pub(super) fn k_core<E: Entry>(
    mut pairs: PairFile<E>,
    kept: &mut Kept,
    budget: &Budget,
    progress: Progress<'_>,
) -> Result<PairFile<E>> {
    let (mut in_file, mut rewrite) = (kept.pairs, false);
    for pass in 0_u64.. {
        let mut writer = match rewrite {
            true => Some(PairWriter::create(pairs.folder(), &format!("core-{pass}"))?),
            false => None,
        };
        let (mut left, mut seen, mut removed) = (0, 0, false);
        let mut reader = pairs.read(budget.buffer)?;
        while let Some(entries) = reader.next_users(budget.block)? {
            progress("k-core", seen, in_file as u64);
            seen += entries.len() as u64;
            for entries in entries.chunk_by(|one, other| one.user() == other.user()) {
                let user = kept.users[entries[0].user()];
                let of_user = kept.visit(entries);
                removed |= user && of_user == 0;
                left += of_user;
                if let Some(writer) = writer.as_mut().filter(|_| of_user > 0) {
                    let entries = entries.iter().filter(|entry| kept.has(**entry));
                    entries.copied().try_for_each(|entry| writer.push(entry))?;
                }
            }
        }
        kept.pairs = left;
        if let Some(writer) = writer {
            pairs = writer.finish()?;
            in_file = left;
        }
        if !removed {
            break;
        }
        rewrite = left < in_file / 4 * 3;
    }
    Ok(pairs)
}
