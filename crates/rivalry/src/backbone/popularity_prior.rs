//! A popularity prior: a multiple of an item's log-popularity, added to its score in training and in ranking.
//!
//! `f(u, i) = cos(u, i) + w · (ln(1 + n_i) - mean_j ln(1 + n_j))`, where n_i is the number of training interactions of item i;
//! with dot products the same. The prior is no parameter: it has no gradient, and the embeddings learn what it leaves open.
//! With w = τ, the softmax loss over uniform negatives leaves them the part of `log p(i | u)` that popularity doesn't
//! explain, which a cosine, limited to [-1, 1], is better able to express where a few items have most interactions.

use crate::data::Interactions;
use crate::params::{Param, Range, Search, Value};

pub(crate) const POPULARITY_WEIGHT: Param = Param {
    name: "popularity_weight",
    doc: "weight of the log-popularity of an item in its score, in training and in ranking; where no loss is chosen, that of the default loss",
    default: Value::Number(0.0),
    range: Range::AtLeast(0.0),
    search: Search::NONE,
};

/// What is added to the score of each item.
pub(crate) fn popularity_prior(train: &Interactions, weight: f64) -> Vec<f32> {
    let logs: Vec<f64> = train.item_counts().iter().map(|&count| f64::from(count).ln_1p()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    logs.iter().map(|log| (weight * (log - mean)) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_with_the_logarithm_of_the_count_and_its_mean_is_zero() {
        let pairs = (0..7).flat_map(|user| {
            (0..3).filter(move |item| user < [7, 3, 1][*item as usize]).map(move |item| (user, item))
        });
        let prior = popularity_prior(&Interactions::from_pairs(7, 4, pairs), 0.5);
        assert!(prior.iter().sum::<f32>().abs() < 1e-6);
        // ln 8, ln 4, ln 2, ln 1
        let step = 0.5 * std::f32::consts::LN_2;
        assert!(prior.windows(2).all(|two| (two[0] - two[1] - step).abs() < 1e-6), "{prior:?}");
    }
}
