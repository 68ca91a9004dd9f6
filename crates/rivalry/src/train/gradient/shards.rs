//! Users cut into shards, so that processes can share a training: [`train.shards`](crate::config::TrainConfig).
//!
//! A shard is a range of users with about as many training pairs as any other. It has an order of its own for its pairs,
//! and each batch takes its part of them; sums over a batch are taken shard by shard and then over shards in a fixed tree. So
//! the arithmetic follows from the number of shards and never from the number of processes. A process has consecutive
//! shards. With one shard, batches are those of a training that knows nothing of shards.

use std::ops::Range;

use crate::data::Interactions;
use crate::rng::{Purpose, shuffle, stream};
use crate::{InputError, Result};

/// The shards of a training, and which of them are this process's.
#[derive(Clone, Debug)]
pub(super) struct Shards {
    /// The first user of each shard; one more for the end.
    users: Vec<u32>,
    /// The number of training pairs of each shard.
    pairs: Vec<usize>,
    mine: Range<usize>,
}

impl Shards {
    /// Cuts the users of a training set into so many shards, and gives rank `rank` of `ranks` its part of them.
    ///
    /// # Errors
    /// If there are fewer users than shards, or fewer shards than ranks.
    pub fn new(train: &Interactions, count: usize, rank: usize, ranks: usize) -> Result<Self> {
        let n_users = train.n_users();
        let refuse =
            |what: String, help: String| Err(InputError::new(what).field("train.shards").help(help).into());
        if count > n_users.max(1) {
            return refuse(
                format!("{n_users} users can't be cut into {count} shards"),
                format!("use at most `train.shards = {n_users}`"),
            );
        }
        if ranks > count {
            return refuse(
                format!("{count} shards are too few for {ranks} processes"),
                format!("use `train.shards = {ranks}` or more, or at most {count} processes"),
            );
        }
        let users: Vec<u32> = cut(train, count).into_iter().map(|user| user as u32).collect();
        let pairs =
            users.windows(2).map(|ends| (ends[0]..ends[1]).map(|user| train.count_of(user)).sum()).collect();
        Ok(Self { users, pairs, mine: rank * count / ranks..(rank + 1) * count / ranks })
    }

    /// The number of shards.
    pub fn count(&self) -> usize {
        self.pairs.len()
    }

    /// The shards of this process.
    pub fn mine(&self) -> Range<usize> {
        self.mine.clone()
    }

    /// The users of this process.
    pub fn my_users(&self) -> Range<u32> {
        self.users[self.mine.start]..self.users[self.mine.end]
    }

    /// The training pairs of each shard of this process, in the order of an epoch.
    pub fn order(&self, train: &Interactions, seed: u64, epoch: u64) -> Vec<Vec<(u32, u32)>> {
        let pairs_of = |user: u32| train.items_of(user).iter().map(move |&item| (user, item));
        let order = |shard: usize| {
            let mut pairs = Vec::with_capacity(self.pairs[shard]);
            pairs.extend((self.users[shard]..self.users[shard + 1]).flat_map(pairs_of));
            let key = [epoch, shard as u64];
            // One shard has the stream of a training that is not cut.
            let key = if self.count() == 1 { &key[..1] } else { &key };
            shuffle(&mut stream(seed, Purpose::Order, key), &mut pairs);
            pairs
        };
        self.mine().map(order).collect()
    }

    /// How many pairs of each shard are in the first batches of an epoch, which together have about `done` pairs.
    pub fn taken(&self, done: usize) -> Vec<usize> {
        let total = self.pairs.iter().sum::<usize>();
        let done = done.min(total);
        let taken = |(shard, &pairs): (usize, &usize)| {
            // Shards are at different points of their fractions, so that a batch is hardly ever far from its size.
            let offset = total * shard / self.count();
            ((pairs as u128 * done as u128 + offset as u128) / total.max(1) as u128) as usize
        };
        self.pairs.iter().enumerate().map(taken).collect()
    }
}

/// Cuts users into so many ranges with about the same number of pairs: the first user of each, and the end. Each range has a
/// user, if there are enough.
pub(crate) fn cut(train: &Interactions, count: usize) -> Vec<usize> {
    let n_users = train.n_users();
    let (mut users, mut user, mut seen) = (vec![0], 0, 0);
    for shard in 1..count {
        let (goal, latest) = (train.len() * shard / count, n_users.saturating_sub(count - shard));
        let first = user;
        while user < latest && (user == first || seen < goal) {
            seen += train.count_of(user as u32);
            user += 1;
        }
        users.push(user);
    }
    users.push(n_users);
    users
}

#[cfg(test)]
mod tests {
    use super::*;

    fn train() -> Interactions {
        // User u has 1 + u % 7 items.
        Interactions::from_pairs(50, 9, (0..50).flat_map(|user| (0..=user % 7).map(move |item| (user, item))))
    }

    #[test]
    fn shards_are_about_equal_and_belong_to_one_rank_each() {
        let train = train();
        for count in [1, 2, 3, 8, 50] {
            for ranks in (1..=8).filter(|ranks| *ranks <= count) {
                let of_rank = |rank| Shards::new(&train, count, rank, ranks).unwrap();
                let all: Vec<usize> = (0..ranks).flat_map(|rank| of_rank(rank).mine()).collect();
                assert_eq!(all, Vec::from_iter(0..count));
                let users: Vec<u32> = (0..ranks).flat_map(|rank| of_rank(rank).my_users()).collect();
                assert_eq!(users, Vec::from_iter(0..50));
                let shards = of_rank(0);
                assert!(shards.users.windows(2).all(|ends| ends[0] < ends[1]));
                let mean = train.len() / count;
                assert!(shards.pairs.iter().all(|&pairs| pairs <= mean + 7), "{:?}", shards.pairs);
            }
        }
        let refused = |count, ranks| Shards::new(&train, count, 0, ranks).unwrap_err().to_string();
        assert!(refused(51, 1).contains("50 users") && refused(2, 3).contains("3 processes"));
    }

    #[test]
    fn batches_take_every_pair_once_and_are_close_to_their_size() {
        let train = train();
        for (count, size) in [(1, 16), (8, 16), (3, 5), (8, 1)] {
            let shards = Shards::new(&train, count, 0, 1).unwrap();
            let batches = train.len().div_ceil(size);
            let taken: Vec<Vec<usize>> = (0..=batches).map(|batch| shards.taken(batch * size)).collect();
            assert!(taken[0].iter().all(|&taken| taken == 0));
            assert_eq!(taken[batches], shards.pairs);
            for (batch, ends) in taken.windows(2).enumerate() {
                assert!(ends[0].iter().zip(&ends[1]).all(|(from, to)| from <= to));
                let pairs = ends[1].iter().sum::<usize>() - ends[0].iter().sum::<usize>();
                let usual = size.min(train.len() - batch * size);
                assert!(pairs.abs_diff(usual) < count, "{count} {size}: {pairs} of {usual}");
            }
        }
    }

    #[test]
    fn one_shard_is_the_order_of_a_training_that_is_not_cut() {
        let train = train();
        let mut pairs: Vec<(u32, u32)> = train.pairs().collect();
        shuffle(&mut stream(3, Purpose::Order, &[2]), &mut pairs);
        assert_eq!(Shards::new(&train, 1, 0, 1).unwrap().order(&train, 3, 2), [pairs]);
        let order = Shards::new(&train, 4, 0, 1).unwrap().order(&train, 3, 2);
        let mut all = order.concat();
        all.sort_unstable();
        assert_eq!(all, Vec::from_iter(train.pairs()));
        // Whoever computes it.
        assert_eq!(Shards::new(&train, 4, 1, 3).unwrap().order(&train, 3, 2), order[1..2]);
    }
}
