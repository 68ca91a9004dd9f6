//! The counts that statistics and notes are made of.

use crate::stats::{Stats, Unseen, of_counts};
use crate::{Interactions, Part, Parts};

/// Counts of the pairs of a data set. Users can be added some at a time.
pub(crate) struct Tally {
    /// The number of pairs.
    pub pairs: Parts<usize>,
    /// Of each user, in all sets.
    per_user: Vec<u32>,
    /// Of each item, by set.
    per_item: Parts<Vec<u32>>,
    /// Users who have pairs in a set and none in training.
    unseen: Parts<UnseenUsers>,
}

#[derive(Clone, Copy, Default)]
struct UnseenUsers {
    users: usize,
    pairs: usize,
}

impl Tally {
    /// Without users.
    pub fn new(n_items: usize) -> Self {
        let per_item = Parts { train: (), valid: (), test: () }.map(|()| vec![0; n_items]);
        Self { pairs: Parts::default(), per_user: Vec::new(), per_item, unseen: Parts::default() }
    }

    /// The counts of a whole data set.
    pub fn of(parts: Parts<&Interactions>) -> Self {
        let mut tally = Self::new(parts.train.n_items());
        tally.add(parts);
        tally
    }

    /// The counts of a whole data set of which the number of pairs of each user and item is known.
    pub fn of_counts(parts: Parts<&Interactions>) -> Self {
        let mut tally = Self::new(parts.train.n_items());
        (0..parts.train.n_users() as u32)
            .for_each(|user| tally.add_user(parts.map(|part| part.count_of(user))));
        tally.per_item = parts.map(Interactions::item_counts);
        tally.pairs = parts.map(Interactions::len);
        tally
    }

    fn add_user(&mut self, pairs: Parts<usize>) {
        let Parts { train, valid, test } = pairs;
        self.per_user.push((train + valid + test) as u32);
        if train == 0 {
            self.unseen.valid.add(valid);
            self.unseen.test.add(test);
        }
    }

    /// Adds users, with their pairs in all sets.
    pub fn add(&mut self, parts: Parts<&Interactions>) {
        for user in 0..parts.train.n_users() as u32 {
            self.add_user(parts.map(|part| part.count_of(user)));
        }
        let Parts { train, valid, test } = &mut self.per_item;
        for (part, counts) in parts.into_iter().zip([train, valid, test]) {
            part.items().iter().for_each(|&item| counts[item as usize] += 1);
        }
        self.pairs.train += parts.train.len();
        self.pairs.valid += parts.valid.len();
        self.pairs.test += parts.test.len();
    }

    /// What of a held-out set doesn't occur in training.
    pub fn unseen(&self, part: Part) -> Unseen {
        let (UnseenUsers { users, pairs }, counts) = match part {
            Part::Train => return Unseen::default(),
            Part::Valid => (self.unseen.valid, &self.per_item.valid),
            Part::Test => (self.unseen.test, &self.per_item.test),
        };
        let items = self.per_item.train.iter().zip(counts).filter(|&(&train, &part)| train == 0 && part > 0);
        let item_pairs = items.clone().map(|(_, &pairs)| pairs as usize).sum();
        Unseen { users, user_pairs: pairs, items: items.count(), item_pairs }
    }

    /// The statistics.
    pub fn stats(mut self) -> Stats {
        let unseen = self.unseen(Part::Test);
        let Parts { train: mut per_item, valid, test } = std::mem::take(&mut self.per_item);
        for counts in [valid, test] {
            per_item.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        of_counts(self.pairs, self.per_user, per_item, unseen)
    }
}

impl UnseenUsers {
    fn add(&mut self, pairs: usize) {
        self.users += usize::from(pairs > 0);
        self.pairs += pairs;
    }
}
