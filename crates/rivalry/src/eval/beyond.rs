//! What else the lists are like: how much of the catalogue they show, and how evenly.

use crate::data::Interactions;
use crate::ranker::RankedLists;
use std::collections::BTreeMap;

/// For each `k`:
/// - `Coverage@K`: the share of all items that is in at least one list
///   (M. Ge, C. Delgado-Battenfeld, D. Jannach: *Beyond accuracy*, RecSys 2010);
/// - `AveragePopularity@K`: the mean training count of the recommended items, over all places of all lists
///   (H. Abdollahpouri et al.: *Managing popularity bias in recommender systems with personalized re-ranking*, 2019);
/// - `Gini@K`: the Gini coefficient of how often each item is recommended, items never recommended included:
///   0 if all are shown equally often, near 1 if few get it all
///   (D. Fleder, K. Hosanagar: *Blockbuster culture's next rise or fall*, Management Science 55(5), 2009).
pub(super) fn beyond_accuracy(
    lists: &RankedLists,
    train: &Interactions,
    ks: &[usize],
) -> BTreeMap<String, f64> {
    let popularity = train.item_counts();
    let mut values = BTreeMap::new();
    for &k in ks {
        let mut shown = vec![0u64; popularity.len()];
        for n in 0..lists.queries().len() {
            lists.items(n).iter().take(k).for_each(|&item| shown[item as usize] += 1);
        }
        let places: u64 = shown.iter().sum();
        let weight: u64 =
            shown.iter().zip(&popularity).map(|(&times, &count)| times * u64::from(count)).sum();
        let covered = shown.iter().filter(|&&times| times > 0).count();
        // A list can be empty if the mask left nothing; if all are, there is nothing to average.
        values.insert(format!("Coverage@{k}"), covered as f64 / shown.len() as f64);
        values.insert(format!("AveragePopularity@{k}"), weight as f64 / places.max(1) as f64);
        values.insert(format!("Gini@{k}"), gini(shown));
    }
    values
}

/// `Σ_i (2i - n - 1) x_i / (n Σ x)` over the ascending counts `x_1 … x_n`; 0 if all are 0.
fn gini(mut counts: Vec<u64>) -> f64 {
    counts.sort_unstable();
    let n = counts.len() as f64;
    let total: u64 = counts.iter().sum();
    let spread: f64 = counts.iter().zip(1..).map(|(&x, i)| (2.0 * f64::from(i) - n - 1.0) * x as f64).sum();
    spread / (n * total.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use crate::backbone::{Embeddings, Score};
    use crate::ranker::{Candidates, Mask, rank};
    use crate::scorer::{EmbeddingScorer, Scorer};

    #[test]
    fn gini_is_0_when_even_and_near_1_when_one_gets_all() {
        assert_eq!((gini(vec![3; 7]), gini(vec![0; 7])), (0.0, 0.0));
        assert!((gini(vec![0, 0, 9, 0]) - 0.75).abs() < 1e-12);
        assert!((gini(vec![3, 1, 2]) - 2.0 / 9.0).abs() < 1e-12);
    }

    #[test]
    fn lists_are_counted_at_each_length() {
        // Both users rank the items 0, 1, 2, 3; the first has had item 0.
        let users = Matrix::from_fn(2, 1, |_, _| 1.0);
        let items = Matrix::from_fn(4, 1, |r, _| -(r as f32));
        let train = Interactions::from_pairs(3, 4, [(0, 0), (2, 0), (2, 1)]);
        let scorer = EmbeddingScorer::new(Embeddings { users, items }, Score::Dot);
        let candidates = Candidates::all(4).without(Mask::OfUser(&train, &[0, 1]));
        let lists = rank(&scorer, &scorer.query(&[0, 1]), &[0, 1], &candidates, 2).unwrap();
        let values = beyond_accuracy(&lists, &train, &[1, 2]);
        // At 1 the lists are [1] and [0]; at 2, [1, 2] and [0, 1].
        assert_eq!((values["Coverage@1"], values["Coverage@2"]), (0.5, 0.75));
        assert_eq!((values["AveragePopularity@1"], values["AveragePopularity@2"]), (1.5, 1.0));
        assert!((values["Gini@1"] - 0.5).abs() < 1e-12);
    }
}
