//! Item-to-item weights from co-occurrences, of which the largest are kept: what item kNN, RP3β and graph filters share.
//!
//! Interactions are 0 or 1, so all of them weight a pair of items by a function of `Σ_u w_u` over the users of both, where
//! w_u is a number for each user.

use rayon::prelude::*;

use super::FitContext;
use crate::data::Interactions;
use crate::params::{Param, Range, Search, Value};
use crate::scorer::{ItemItemScorer, Scorer, SparseWeights};
use crate::tensors::Tensors;
use crate::{InputError, Result};

/// The number of weights that are kept for each item.
pub(super) const K: Param = Param {
    name: "k",
    doc: "neighbours that are kept for each item",
    default: Value::Count(100),
    range: Range::Within(1.0, 1e6),
    search: Search::listed(&[20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]),
};

/// The name of the weights among the tensors.
const WEIGHTS: &str = "weights";
/// Items between two reports of progress, for the threads to share.
const BATCH: usize = 1024;

/// Two items that have users in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub from: u32,
    pub to: u32,
    /// `Σ_u w_u` over the users of both.
    pub sum: f64,
    /// The number of these users.
    pub users: u32,
}

/// The `k` largest weights of each item, by item; `None` if the context asked to stop. Of equal weights the lower item is
/// kept. The weight of an item for itself, and weights of zero, are left out.
pub(super) fn largest_weights(
    train: &Interactions,
    user_weights: &[f64],
    k: usize,
    weight: impl Fn(Pair) -> f64 + Sync,
    context: &mut FitContext<'_>,
) -> Option<SparseWeights> {
    let by_item = train.transposed();
    let n = train.n_items();
    let mut rows: Vec<Vec<(u32, f32)>> = Vec::with_capacity(n);
    for first in (0..n).step_by(BATCH) {
        let batch = first as u32..(first + BATCH).min(n) as u32;
        let counts = || CoOccurrences::new(n);
        rows.par_extend(batch.into_par_iter().map_init(counts, |counts, item| {
            let pairs = counts.of_item(item, train, by_item.items_of(item), user_weights);
            let weights = pairs.into_iter().map(|pair| (pair.to, weight(pair) as f32));
            keep_largest(weights.filter(|&(_, weight)| weight != 0.0).collect(), k)
        }));
        if !context.go_on(rows.len(), n) {
            return None;
        }
    }
    Some(SparseWeights::from_rows(rows.iter().map(Vec::as_slice)))
}

/// Sums over the users that other items share with one item.
struct CoOccurrences {
    sums: Vec<f64>,
    users: Vec<u32>,
}

impl CoOccurrences {
    fn new(n_items: usize) -> Self {
        Self { sums: vec![0.0; n_items], users: vec![0; n_items] }
    }

    fn of_item(&mut self, item: u32, train: &Interactions, users: &[u32], weights: &[f64]) -> Vec<Pair> {
        let mut touched = Vec::new();
        for &user in users {
            for &other in train.items_of(user) {
                if self.users[other as usize] == 0 {
                    touched.push(other);
                }
                self.users[other as usize] += 1;
                self.sums[other as usize] += weights[user as usize];
            }
        }
        let pairs = touched.iter().filter(|&&other| other != item).map(|&other| Pair {
            from: item,
            to: other,
            sum: self.sums[other as usize],
            users: self.users[other as usize],
        });
        let pairs = pairs.collect();
        for other in touched {
            (self.sums[other as usize], self.users[other as usize]) = (0.0, 0);
        }
        pairs
    }
}

fn keep_largest(mut weights: Vec<(u32, f32)>, k: usize) -> Vec<(u32, f32)> {
    if k < weights.len() {
        weights.select_nth_unstable_by(k, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        weights.truncate(k);
    }
    weights.sort_unstable_by_key(|&(item, _)| item);
    weights
}

/// The tensors of a model with these weights.
///
/// # Errors
/// If a weight is not finite.
pub(super) fn to_tensors(weights: &SparseWeights) -> Result<Tensors> {
    if !weights.is_finite() {
        return Err(InputError::new("the weights of the items are too large for single precision")
            .field("model")
            .help("use parameters nearer to the defaults: 'rivalry list models' shows them")
            .into());
    }
    let mut tensors = Tensors::default();
    weights.put(WEIGHTS, &mut tensors);
    Ok(tensors)
}

/// The scorer of a model with sparse weights.
///
/// # Errors
/// If the tensors are not those of such a model.
pub(super) fn scorer(tensors: &Tensors, train: &Interactions) -> Result<Box<dyn Scorer>> {
    let weights = SparseWeights::get(WEIGHTS, tensors, train.n_items())?;
    Ok(Box::new(ItemItemScorer::new(weights, train)))
}

/// An estimate of the memory for up to `k` weights for each item.
pub(super) fn memory(train: &Interactions, k: usize) -> u64 {
    let n = train.n_items() as u64;
    let pairs = (0..train.n_users() as u32).map(|user| (train.items_of(user).len() as u64).pow(2));
    let weights = pairs.fold(0, u64::saturating_add).min(n.saturating_mul(n.min(k as u64)));
    // Weights as rows, as tensors and in the scorer; interactions both ways and as queries; what threads work in.
    let threads = rayon::current_num_threads() as u64;
    weights.saturating_mul(24) + train.len() as u64 * 24 + n * 16 * threads + (32 << 20)
}

/// The number of interactions of each row, to a power; zero for rows without any.
pub(super) fn powers(rows: &Interactions, exponent: f64) -> Vec<f64> {
    let count = |row: u32| rows.items_of(row).len() as f64;
    (0..rows.n_users() as u32)
        .map(|row| if count(row) == 0.0 { 0.0 } else { count(row).powf(exponent) })
        .collect()
}
