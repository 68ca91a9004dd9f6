//! Every metric of every user's list, and the means over users.

use super::Metrics;
use super::metric::{Judged, METRICS};
use crate::collective::{Collective, gathered};
use crate::data::Interactions;
use crate::ranker::RankedLists;
use serde::Serialize;

/// The values behind the means: what significance tests need.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PerUser {
    /// The users measured (dense ids): those with at least one held-out item.
    pub users: Vec<u32>,
    /// For each metric, such as `Recall@20`, one value for each of these users.
    pub values: Metrics<Vec<f64>>,
}

impl PerUser {
    /// Measures the lists of all users with an item in `held_out`, at each length in `ks`.
    pub(super) fn measure(lists: &RankedLists, held_out: &Interactions, ks: &[usize]) -> Self {
        let mut users = Vec::new();
        let mut columns: Vec<Vec<f64>> = vec![Vec::new(); ks.len() * METRICS.len()];
        let mut hits = Vec::new();
        for (n, &user) in lists.queries().iter().enumerate() {
            let truth = held_out.items_of(user);
            if truth.is_empty() {
                continue;
            }
            users.push(user);
            hits.clear();
            hits.extend(lists.items(n).iter().map(|item| truth.binary_search(item).is_ok()));
            let judged =
                ks.iter().map(|&k| Judged { hits: &hits[..k.min(hits.len())], held_out: truth.len(), k });
            let values = judged.flat_map(|list| METRICS.iter().map(move |metric| (metric.measure)(&list)));
            for (column, value) in columns.iter_mut().zip(values) {
                // The sum of no hits at all is -0.0, which nobody wants to see.
                column.push(value + 0.0);
            }
        }
        let metrics = ks.iter().flat_map(|&k| METRICS.iter().map(move |metric| metric.at(k)));
        Self { users, values: metrics.zip(columns).collect() }
    }

    /// The values of the users of all processes.
    pub(super) fn of_all(mut self, collective: &dyn Collective) -> Self {
        if collective.size() > 1 {
            self.users = gathered(collective, &self.users);
            self.values.values_mut().for_each(|values| *values = gathered(collective, values));
        }
        self
    }

    /// The sums over the users of all processes.
    pub(super) fn sums(&self, collective: &dyn Collective) -> Sums {
        let mut sums = vec![0.0; self.values.len() + 1];
        for rank in 0..collective.size() {
            if rank == collective.rank() {
                // In the order of users, on whichever rank they are: the same bits for any number of ranks.
                let columns = self.values.values().zip(&mut sums);
                columns.for_each(|(values, sum)| values.iter().for_each(|value| *sum += value));
                sums[self.values.len()] += self.users.len() as f64;
            }
            if collective.size() > 1 {
                let mine = if rank == collective.rank() { &sums[..] } else { &[] };
                sums = gathered(collective, mine);
            }
        }
        let users = sums.pop().unwrap_or_default() as usize;
        Sums { users, values: self.values.keys().copied().zip(sums).collect() }
    }
}

/// The sums of the values of all users.
pub(super) struct Sums {
    /// How many users were measured.
    pub users: usize,
    values: Metrics,
}

impl Sums {
    /// The mean of each metric over `n_users` users; whoever was not measured counts as 0.
    pub fn means(self, n_users: usize) -> Metrics {
        self.values.iter().map(|(&metric, sum)| (metric, sum / n_users as f64)).collect()
    }
}
