//! Uniform negatives: every item that is not among the user's training items is equally likely.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Entry, Sampler, TrainingSet};
use crate::data::Interactions;
use crate::params::{Param, Range, Search, Value};
use crate::rng::{below, shuffle};
use crate::{InputError, Result};

pub(super) const UNIFORM: Entry = Entry {
    name: "uniform",
    summary: "uniform over the items the user has no training interaction with",
    params: &[REPLACEMENT, FALSE_NEGATIVES],
    build: |params, data, negatives| {
        let uniform = Uniform {
            train: data.interactions,
            replacement: params.flag(REPLACEMENT.name),
            false_negatives: params.number(FALSE_NEGATIVES.name),
        };
        uniform.check(data, negatives)?;
        Ok(Box::new(uniform))
    },
};

const REPLACEMENT: Param = Param {
    name: "replacement",
    doc: "sample with replacement",
    default: Value::Flag(true),
    range: Range::Any,
    search: Search::NONE,
};

const FALSE_NEGATIVES: Param = Param {
    name: "false_negatives",
    doc: "probability that a negative is replaced by one of the user's training items: noise, to test a loss's robustness",
    default: Value::Number(0.0),
    range: Range::Within(0.0, 1.0),
    search: Search::NONE,
};

pub(super) struct Uniform<'a> {
    train: &'a Interactions,
    replacement: bool,
    false_negatives: f64,
}

impl<'a> Uniform<'a> {
    /// The sampler with its default parameters.
    pub fn with_replacement(data: TrainingSet<'a>) -> Result<Self> {
        let uniform = Self { train: data.interactions, replacement: true, false_negatives: 0.0 };
        uniform.check(data, 1)?;
        Ok(uniform)
    }

    fn check(&self, data: TrainingSet<'_>, negatives: usize) -> Result<()> {
        let train = self.train;
        let needed = if self.replacement { 1 } else { negatives };
        let full = (0..train.n_users() as u32)
            .find(|&u| train.count_of(u) > 0 && train.n_items() - train.count_of(u) < needed);
        let Some(user) = full else { return Ok(()) };
        let free = train.n_items() - train.count_of(user);
        let name = data.users.original(user);
        Err(match free {
            0 => InputError::new(format!(
                "user '{name}' has interacted with every item: there is no negative to draw"
            ))
            .help("remove the user, or add items that the user has not interacted with"),
            _ => InputError::new(format!(
                "user '{name}' has only {free} items left to draw {needed} different negatives from"
            ))
            .help("lower train.negatives or set sampler.replacement = true"),
        }
        .into())
    }
}

impl Sampler for Uniform<'_> {
    fn draw(&self, user: u32, rng: &mut Xoshiro256PlusPlus, out: &mut [u32]) {
        let n_items = self.train.n_items();
        let positives = self.train.items_of(user);
        let free = n_items - positives.len();
        let scarce = if self.replacement { free < n_items / 2 } else { free < n_items / 2 + out.len() };
        if scarce {
            self.draw_from_list(positives, n_items as u32, rng, out);
        } else {
            self.draw_and_reject(positives, n_items as u32, rng, out);
        }
        if self.false_negatives > 0.0 {
            self.replace_some(positives, rng, out);
        }
    }

    fn log_probs(&self, user: u32, items: &[u32], out: &mut [f32]) {
        let positives = self.train.items_of(user);
        let free = (self.train.n_items() - positives.len()) as f64;
        let negative = ((1.0 - self.false_negatives) / free).ln() as f32;
        let positive = (self.false_negatives / positives.len() as f64).ln() as f32;
        for (log_prob, item) in out.iter_mut().zip(items) {
            let is_positive = self.false_negatives > 0.0 && positives.binary_search(item).is_ok();
            *log_prob = if is_positive { positive } else { negative };
        }
    }
}

impl Uniform<'_> {
    /// Draws among all items and rejects the user's: fast while most items are free.
    fn draw_and_reject(
        &self,
        positives: &[u32],
        n_items: u32,
        rng: &mut Xoshiro256PlusPlus,
        out: &mut [u32],
    ) {
        let mut taken = vec![0u64; n_items.div_ceil(64) as usize];
        for &item in positives {
            taken[item as usize / 64] |= 1 << (item % 64);
        }
        // The bias of multiply-shift lies in the products whose low half is below this (Lemire's bound).
        let surplus = n_items.wrapping_neg() % n_items;
        let mut drawn = 0;
        while drawn < out.len() {
            let word = rng.next_u64();
            for half in [word as u32, (word >> 32) as u32] {
                let product = u64::from(half) * u64::from(n_items);
                let item = (product >> 32) as u32;
                let (place, bit) = (item as usize / 64, 1 << (item % 64));
                let free = taken[place] & bit == 0 && product as u32 >= surplus;
                // Written in any case and counted only if free: a rare "no" then costs no misprediction.
                if let Some(out) = out.get_mut(drawn) {
                    *out = item;
                    drawn += usize::from(free);
                }
                if !self.replacement && free {
                    taken[place] |= bit;
                }
            }
        }
    }

    /// Replaces some negatives by training items of the user.
    fn replace_some(&self, positives: &[u32], rng: &mut Xoshiro256PlusPlus, out: &mut [u32]) {
        let threshold = self.false_negatives * 2f64.powi(32);
        for place in out {
            if f64::from(rng.next_u32()) < threshold {
                *place = positives[below(rng, positives.len() as u32) as usize];
            }
        }
    }

    /// Lists the free items and draws among them: never slow, however few there are.
    fn draw_from_list(&self, positives: &[u32], n_items: u32, rng: &mut Xoshiro256PlusPlus, out: &mut [u32]) {
        let mut free: Vec<u32> = (0..n_items).filter(|item| positives.binary_search(item).is_err()).collect();
        if self.replacement {
            for place in out {
                *place = free[below(rng, free.len() as u32) as usize];
            }
        } else {
            shuffle(rng, &mut free);
            let wanted = out.len();
            out.copy_from_slice(&free[..wanted]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::seeded;

    /// One user who has the items `0..taken` of `n_items`.
    fn drawn(replacement: bool, taken: u32, n_items: usize, n: usize) -> Vec<u32> {
        let train = Interactions::from_pairs(1, n_items, (0..taken).map(|i| (0, i)));
        let mut out = vec![0; n];
        Uniform { train: &train, replacement, false_negatives: 0.0 }.draw(0, &mut seeded(1), &mut out);
        out
    }

    #[test]
    fn draws_are_free_items_and_evenly_spread() {
        for taken in [2, 8] {
            let mut counts = [0; 12];
            for item in drawn(true, taken, 12, 60_000) {
                counts[item as usize] += 1;
            }
            let expected = 60_000 / (12 - taken);
            assert!(counts[..taken as usize].iter().all(|&c| c == 0));
            assert!(
                counts[taken as usize..].iter().all(|&c: &u32| c.abs_diff(expected) < expected / 20),
                "{counts:?}"
            );
        }
    }

    #[test]
    fn false_negatives_come_as_often_as_asked_for_and_leave_the_others_as_they_were() {
        let train = Interactions::from_pairs(1, 100, (0..10).map(|i| (0, i)));
        let draw = |false_negatives: f64| {
            let mut out = vec![0; 20_000];
            let sampler = Uniform { train: &train, replacement: true, false_negatives };
            sampler.draw(0, &mut seeded(1), &mut out);
            out
        };
        let (clean, spoilt) = (draw(0.0), draw(0.3));
        let own = spoilt.iter().filter(|&&item| item < 10).count();
        assert!(own.abs_diff(6000) < 300, "{own}");
        assert!(clean.iter().zip(&spoilt).all(|(clean, spoilt)| *spoilt < 10 || clean == spoilt));
        assert!(draw(1.0).iter().all(|&item| item < 10));
    }

    #[test]
    fn without_replacement_no_item_comes_twice() {
        for (taken, n_items, n) in [(2, 100, 20), (2, 12, 10), (8, 12, 4)] {
            let mut items = drawn(false, taken, n_items, n);
            items.sort_unstable();
            items.dedup();
            assert_eq!(items.len(), n);
            assert!(items.iter().all(|&item| item >= taken));
        }
    }
}
