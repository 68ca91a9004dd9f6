//! The pairs of one step, cut into shards.

use std::borrow::Cow;

use super::Batch;
use super::exchange::union;
use super::shard::Shard;
use crate::collective::{Collective, gathered};

/// The pairs of one step: those of this process, cut into its shards, and where they stand among all.
#[derive(Clone, Copy)]
pub(in super::super) struct StepBatch<'b> {
    /// The pairs of this process, shard by shard.
    pub whole: Batch<'b>,
    /// Where the pairs of each shard but the first start among these.
    pub cuts: &'b [usize],
    /// How many pairs of the step come before those of this process.
    pub first_row: usize,
    /// The pairs of the step, of all processes.
    pub pairs: usize,
    /// The processes.
    pub collective: &'b dyn Collective,
}

impl<'b> StepBatch<'b> {
    /// Where the pairs of a shard of this process start.
    pub(super) fn start(&self, place: usize) -> usize {
        if place == 0 { 0 } else { self.cuts[place - 1] }
    }

    /// The pairs of a shard of this process.
    pub(super) fn part(&self, place: usize) -> Batch<'b> {
        let end = self.cuts.get(place).copied().unwrap_or(self.whole.users.len());
        let Batch { users, items, .. } = self.whole;
        let range = self.start(place)..end;
        Batch { users: &users[range.clone()], items: &items[range], ..self.whole }
    }

    /// The shards of this process that have pairs in the step.
    pub(super) fn places_with_pairs(&self) -> impl Iterator<Item = usize> + '_ {
        (0..=self.cuts.len()).filter(|&place| !self.part(place).users.is_empty())
    }

    /// The same, each with its pairs.
    pub(super) fn with_pairs<'x>(
        &self,
        shards: &'x mut [Shard],
    ) -> impl Iterator<Item = (&'x mut Shard, Batch<'b>)> + use<'x, 'b> {
        let batch = *self;
        let parts = shards.iter_mut().enumerate().map(move |(place, shard)| (shard, batch.part(place)));
        parts.filter(|(_, batch)| !batch.users.is_empty())
    }

    /// The rows of the users of this process, ascending and each once.
    pub(super) fn touched_users<'x>(&self, shards: &'x [Shard]) -> Cow<'x, [u32]> {
        match shards {
            [shard] if !self.whole.users.is_empty() => Cow::Borrowed(&shard.rows.table_rows),
            // Users of one shard come before those of the next.
            shards => {
                self.places_with_pairs().flat_map(|place| shards[place].rows.table_rows.clone()).collect()
            }
        }
    }

    /// The items of this process, ascending and each once; `None` if any item may be in the step.
    pub(super) fn listed_items<'x>(&self, shards: &'x [Shard]) -> Option<Cow<'x, [u32]>> {
        let lists: Option<Vec<&[u32]>> =
            self.places_with_pairs().map(|place| shards[place].scorer.items()).collect();
        match &lists?[..] {
            [list] => Some(Cow::Borrowed(list)),
            lists => Some(Cow::Owned(union(lists))),
        }
    }

    /// `n` numbers of each shard, of whichever process, in order; zeros of those without pairs.
    pub(super) fn of_shards(
        &self,
        shards: &[Shard],
        n: usize,
        numbers: impl Fn(&Shard) -> Vec<f64>,
    ) -> Vec<f64> {
        let of_shard = |(place, shard): (usize, &Shard)| match self.part(place).users.is_empty() {
            true => vec![0.0; n],
            false => numbers(shard),
        };
        let mine: Vec<f64> = shards.iter().enumerate().flat_map(of_shard).collect();
        if self.collective.size() == 1 || n == 0 { mine } else { gathered(self.collective, &mine) }
    }
}
