//! What else the lists are like: how much of the catalogue they show, and how evenly.

use super::{MetricAt, Metrics};
use crate::collective::{Collective, gathered};
use crate::data::{Interactions, gini};
use crate::ranker::RankedLists;

const COVERAGE: &str = "Coverage";
const AVERAGE_POPULARITY: &str = "AveragePopularity";
const GINI: &str = "Gini";

/// The metrics of all lists together.
pub(super) const LABELS: [&str; 3] = [COVERAGE, AVERAGE_POPULARITY, GINI];

/// For each `k`:
/// - `Coverage@K`: the share of all items that is in at least one list
///   (M. Ge, C. Delgado-Battenfeld, D. Jannach: *Beyond accuracy*, RecSys 2010);
/// - `AveragePopularity@K`: the mean training count of the recommended items, over all places of all lists
///   (H. Abdollahpouri et al.: *Managing popularity bias in recommender systems with personalized re-ranking*, 2019);
/// - `Gini@K`: the Gini coefficient of how often each item is recommended, items never recommended included:
///   0 if all are shown equally often, near 1 if few get it all
///   (D. Fleder, K. Hosanagar: *Blockbuster culture's next rise or fall*, Management Science 55(5), 2009).
///
/// The lists are those of this process; others count theirs.
pub(super) fn beyond_accuracy(
    lists: &RankedLists,
    train: &Interactions,
    (ks, collective): (&[usize], &dyn Collective),
) -> Metrics {
    let popularity = train.item_counts();
    let mut values = Metrics::default();
    for &k in ks {
        let mut shown = vec![0u32; popularity.len()];
        for n in 0..lists.queries().len() {
            lists.items(n).iter().take(k).for_each(|&item| shown[item as usize] += 1);
        }
        if collective.size() > 1 {
            let all = gathered(collective, &shown);
            shown.fill(0);
            for of_rank in all.chunks(shown.len()) {
                shown.iter_mut().zip(of_rank).for_each(|(sum, times)| *sum += times);
            }
        }
        let places: u64 = shown.iter().map(|&times| u64::from(times)).sum();
        let weight: u64 =
            shown.iter().zip(&popularity).map(|(&times, &count)| u64::from(times) * u64::from(count)).sum();
        shown.sort_unstable();
        let covered = shown.iter().filter(|&&times| times > 0).count();
        // A list can be empty if the mask left nothing; if all are, there is nothing to average.
        values.insert(MetricAt::new(COVERAGE, k), covered as f64 / shown.len() as f64);
        values.insert(MetricAt::new(AVERAGE_POPULARITY, k), weight as f64 / places.max(1) as f64);
        values.insert(MetricAt::new(GINI, k), gini(&shown));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use crate::backbone::{Embeddings, Score};
    use crate::collective::Alone;
    use crate::ranker::{Candidates, Mask, rank};
    use crate::scorer::{EmbeddingScorer, Scorer};

    #[test]
    fn lists_are_counted_at_each_length() {
        // Both users rank the items 0, 1, 2, 3; the first has had item 0.
        let users = Matrix::from_fn(2, 1, |_, _| 1.0);
        let items = Matrix::from_fn(4, 1, |r, _| -(r as f32));
        let train = Interactions::from_pairs(3, 4, [(0, 0), (2, 0), (2, 1)]);
        let scorer = EmbeddingScorer::new(Embeddings { users, items }, Score::Dot);
        let candidates = Candidates::all(4).without(Mask::OfUser(&train, &[0, 1]));
        let lists = rank(&scorer, &scorer.query(&[0, 1]), &[0, 1], &candidates, 2).unwrap();
        let values = beyond_accuracy(&lists, &train, (&[1, 2], &Alone));
        // At 1 the lists are [1] and [0]; at 2, [1, 2] and [0, 1].
        assert_eq!((values["Coverage@1"], values["Coverage@2"]), (0.5, 0.75));
        assert_eq!((values["AveragePopularity@1"], values["AveragePopularity@2"]), (1.5, 1.0));
        assert!((values["Gini@1"] - 0.5).abs() < 1e-12);
    }
}
