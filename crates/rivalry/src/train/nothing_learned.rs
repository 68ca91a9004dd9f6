//! Recognises a training after which the model is no better than chance.
//!
//! Three signs are looked at, each on its own. Scores: a model that gives every item the same score ranks by nothing,
//! for example because its embeddings grew until their length overflowed. Training pairs: for a sample of users, how
//! often a training item is scored above another item; a model that has learned anything does so far more often than in
//! half of the cases, even where the data are few. Validation: the metric that epochs are chosen by, against its
//! expectation for a random ranking; this is asked only where so many users are evaluated that chance can't explain the
//! difference.

use crate::Matrix;
use crate::data::Dataset;
use crate::eval::{Average, EvalOptions, MetricAt, Metrics};
use crate::scorer::{ItemBlock, Scorer};

/// At most so many users, other items and training items of a user are looked at.
const USERS: usize = 256;
const ITEMS: usize = 512;
const OWN_ITEMS: usize = 16;

/// Training items are scored above other items in at most this share of the cases by a model that learned nothing.
const SHARE_BY_CHANCE: f64 = 0.52;

/// Why a trained model is no better than chance, as a sentence that follows "nothing was learned: "; `None` if it is
/// better, or if there is too little to tell.
pub(super) fn nothing_learned(
    scorer: &dyn Scorer,
    dataset: &Dataset,
    options: &EvalOptions,
    valid: Option<&Metrics>,
) -> Option<String> {
    const SMALLER: &str = "try a smaller learning rate (--lr)";
    const ANOTHER: &str = "try another learning rate (--lr), usually a smaller one, or more epochs";
    let Separation { share, all_equal } = Separation::measure(scorer, dataset)?;
    if all_equal {
        return Some(match without_direction(scorer) {
            true => format!("the embeddings overflowed; {SMALLER}"),
            false => format!("all items have the same score; {SMALLER}"),
        });
    }
    if share <= SHARE_BY_CHANCE {
        return Some(format!(
            "training items are scored above other items in {:.0} % of the cases, as by chance; {ANOTHER}",
            100.0 * share
        ));
    }
    // Whatever the epoch is chosen by: NDCG is measured at each K.
    let metric = MetricAt::ndcg(options.selection_metric().k());
    let value = *valid?.get(&metric)?;
    let chance = Chance::of_validation(dataset, options.average, metric.k());
    chance.explains(value).then(|| {
        format!(
            "{metric} on the validation set is {value:.4}, and {:.4} for a random ranking; {ANOTHER}",
            chance.mean
        )
    })
}

/// Whether all item embeddings, or all user embeddings, are zero.
fn without_direction(scorer: &dyn Scorer) -> bool {
    let zero = |table: &Matrix| (0..table.rows()).all(|row| table.row(row).iter().all(|x| *x == 0.0));
    scorer.embeddings().is_some_and(|embeddings| zero(&embeddings.items) || zero(&embeddings.users))
}

/// How well the scores separate training items from others.
struct Separation {
    /// The share of pairs of a training item and another item in which the first has the higher score; equal scores count
    /// one half.
    share: f64,
    /// Whether each user gives all items the same score.
    all_equal: bool,
}

impl Separation {
    /// Measures a sample; `None` if no user has both training items and others.
    fn measure(scorer: &dyn Scorer, dataset: &Dataset) -> Option<Self> {
        let train = &dataset.train;
        let trained = (0..train.n_users() as u32).filter(|&user| train.count_of(user) > 0);
        let users = evenly(&trained.collect::<Vec<u32>>(), USERS);
        let others = evenly(&(0..train.n_items() as u32).collect::<Vec<u32>>(), ITEMS);
        let query = scorer.query(&users);
        let (mut scores, mut own_scores) = (Matrix::zeros(0, 0), Matrix::zeros(0, 0));
        scorer.score(&query, ItemBlock::Ids(&others), &mut scores);
        let (mut higher, mut pairs, mut all_equal) = (0.0, 0.0, true);
        for (row, &user) in users.iter().enumerate() {
            let own = evenly(train.items_of(user), OWN_ITEMS);
            scorer.score(&query.slice(row..row + 1), ItemBlock::Ids(&own), &mut own_scores);
            let others = others.iter().zip(scores.row(row)).filter(|(item, _)| !train.contains(user, **item));
            for (_, &other) in others {
                for &own in own_scores.row(0) {
                    higher += if own > other { 1.0 } else { f64::from(u8::from(own == other)) / 2.0 };
                    all_equal &= own == other;
                    pairs += 1.0;
                }
            }
        }
        (pairs > 0.0).then(|| Self { share: higher / pairs, all_equal })
    }
}

/// At most that many of these, evenly spaced.
fn evenly(ids: &[u32], most: usize) -> Vec<u32> {
    let step = ids.len().div_ceil(most).max(1);
    ids.iter().step_by(step).copied().collect()
}

/// NDCG@K of the validation set for a random ranking.
struct Chance {
    /// Its expectation.
    mean: f64,
    /// An upper bound of its standard deviation.
    deviation: f64,
}

impl Chance {
    fn of_validation(dataset: &Dataset, average: Average, k: usize) -> Self {
        let Dataset { train, valid, .. } = dataset;
        let discount = |rank: usize| 1.0 / ((rank + 1) as f64).log2();
        let gain = |ranks: usize| (1..=ranks).map(discount).sum::<f64>();
        let squares = |ranks: usize| (1..=ranks).map(|rank| discount(rank).powi(2)).sum::<f64>();
        let (mut sum, mut variance, mut users) = (0.0, 0.0, 0);
        for user in 0..valid.n_users() as u32 {
            let held_out = valid.count_of(user);
            let candidates = train.n_items() - train.count_of(user);
            if held_out == 0 || candidates == 0 {
                continue;
            }
            users += 1;
            // Each place of the list holds a held-out item with this probability; places exclude each other, so that
            // their covariances are negative.
            let hit = (held_out as f64 / candidates as f64).min(1.0);
            let (places, ideal) = (k.min(candidates), gain(k.min(held_out)));
            sum += hit * gain(places) / ideal;
            variance += hit * (1.0 - hit) * squares(places) / ideal.powi(2);
        }
        let n = if average == Average::All { valid.n_users() } else { users }.max(1) as f64;
        Self { mean: sum / n, deviation: variance.sqrt() / n }
    }

    /// Whether a value is what chance gives, where users are many enough to tell: twice the value of a random ranking, or a
    /// tenth of the way to a perfect one, would stand out.
    fn explains(&self, value: f64) -> bool {
        let step = self.mean.min(0.1 * (1.0 - self.mean)).max(0.01);
        4.0 * self.deviation <= step && value <= self.mean + self.deviation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Interactions, Parts};
    use crate::rng::{Purpose, shuffle, stream};

    #[test]
    fn a_small_validation_part_proves_nothing() {
        let explains = |mean, deviation, value| Chance { mean, deviation }.explains(value);
        assert!(explains(0.05, 0.01, 0.049) && explains(0.0007, 0.0003, 0.0) && explains(0.5, 0.01, 0.505));
        assert!(!explains(0.05, 0.01, 0.07) && !explains(0.03, 0.02, 0.03) && !explains(0.5, 0.05, 0.5));
    }

    #[test]
    fn the_expectation_is_the_mean_over_random_rankings() {
        let (n_users, n_items, k) = (40, 30, 10);
        let pairs = |from: u32, each: u32| -> Vec<(u32, u32)> {
            let of = |user| (0..each).map(move |n| (user, (user + from + n) % n_items));
            (0..n_users as u32).flat_map(of).collect()
        };
        let part = |pairs: Vec<_>| Interactions::from_pairs(n_users, n_items as usize, pairs);
        let parts = Parts {
            train: part(pairs(0, 6)),
            valid: part(pairs(6, 3)),
            test: Interactions::empty(n_users, n_items as usize),
        };
        let ids = |n: usize| (0..n).map(|id| id.to_string()).collect();
        let dataset = Dataset::new("ring", ids(n_users), ids(n_items as usize), parts, vec![]).unwrap();
        let chance = Chance::of_validation(&dataset, Average::Evaluable, k);
        let draws = 400;
        let mut values = Vec::new();
        for draw in 0..draws {
            let mut sum = 0.0;
            for user in 0..n_users as u32 {
                let mut free: Vec<u32> = (0..n_items).filter(|i| !dataset.train.contains(user, *i)).collect();
                shuffle(&mut stream(draw, Purpose::Order, &[u64::from(user)]), &mut free);
                let gain = |rank: usize| 1.0 / ((rank + 2) as f64).log2();
                let found = (0..k).filter(|&rank| dataset.valid.contains(user, free[rank]));
                sum += found.map(gain).sum::<f64>() / (0..3).map(gain).sum::<f64>();
            }
            values.push(sum / n_users as f64);
        }
        let mean = values.iter().sum::<f64>() / draws as f64;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / draws as f64;
        assert!((mean - chance.mean).abs() < 0.01, "{mean} {}", chance.mean);
        assert!(variance.sqrt() <= 1.1 * chance.deviation && 2.0 * variance.sqrt() > chance.deviation);
    }
}
