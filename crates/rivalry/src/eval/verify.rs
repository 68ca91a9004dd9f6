//! The same figures once more, as plainly as they can be had: every score in f64, every item looked at, every metric
//! written out from its definition. It shares no arithmetic with the ranking it checks, is slow, and is there to be
//! believed.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde::Serialize;

use super::bucket::head_and_tail;
use super::evaluate::Truth;
use super::{Average, EvalOptions, Evaluation, Lists, Part, evaluate, top_k_lists};
use crate::data::{Dataset, Interactions};
use crate::{Error, Matrix, Result};

/// Tables before they are made into scores.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    /// One row a user.
    pub users: &'a Matrix,
    /// One row an item.
    pub items: &'a Matrix,
    /// Whether the score is the cosine of the rows, and not their dot product.
    pub cosine: bool,
}

/// Figures that were found right.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verification {
    /// The figures themselves.
    #[serde(skip)]
    pub evaluation: Evaluation,
    /// How many figures were computed again.
    pub figures: usize,
    /// The largest difference between a figure and the same one computed again.
    pub largest_difference: f64,
    /// Users whose list has items in another order than f64 gives, their scores being equal to within the rounding of
    /// f32.
    pub reordered_users: usize,
}

/// Sums of the same numbers in another order may differ by so much.
const TOLERANCE: f64 = 1e-12;

/// Evaluates `scored` tables (users, items), and holds every list and every figure against a naive recomputation in f64
/// from the `raw` tables and the data.
///
/// A list is right if no masked item is in it, nothing that is left out scores higher than its last item, and its
/// scores never rise, all within what f32 can tell apart. A figure is right if it is the mean of its definition over
/// these lists.
///
/// # Errors
/// As [`evaluate`]; and if a list or a figure is not right.
pub fn verify(
    scored: [&Matrix; 2],
    raw: Raw<'_>,
    dataset: &Dataset,
    part: Part,
    options: &EvalOptions,
) -> Result<Verification> {
    let [users, items] = scored;
    let evaluation = evaluate(users, items, dataset, part, options)?;
    let Truth { held_out, masks, targets } = Truth::of(dataset, part, options)?;
    let longest = options.k.iter().copied().max().unwrap_or_default();
    let lists = top_k_lists(users, items, &targets, &masks, longest)?;
    let reordered_users = check_lists(&Naive::new(raw), &lists, &masks)?;

    let mut checked = Checked::default();
    let everyone = held_out.n_users();
    let means = naive_means(&lists, |user| held_out.items_of(user).iter().copied().collect(), &options.k);
    checked.hold(
        "",
        &evaluation.metrics,
        &means.over(match options.average {
            Average::Evaluable => means.users,
            Average::All => everyone,
        }),
    )?;
    if options.buckets {
        let (head, tail) = head_and_tail(&dataset.train);
        for (name, bucket, items) in [("head", &evaluation.head, head), ("tail", &evaluation.tail, tail)] {
            let items: BTreeSet<u32> = items.into_iter().collect();
            let truth =
                |user| held_out.items_of(user).iter().copied().filter(|i| items.contains(i)).collect();
            let means = naive_means(&lists, truth, &options.k);
            let reported = bucket.as_ref().map(|bucket| &bucket.metrics);
            checked.hold(name, reported.unwrap_or(&BTreeMap::new()), &means.over(means.users))?;
        }
    }
    if let Some(beyond) = &evaluation.beyond {
        checked.hold("lists", beyond, &naive_beyond(&lists, &dataset.train, &options.k))?;
    }
    let Checked { figures, largest_difference } = checked;
    Ok(Verification { evaluation, figures, largest_difference, reordered_users })
}

/// Scores in f64.
struct Naive {
    users: Vec<Vec<f64>>,
    items: Vec<Vec<f64>>,
    /// The longest item.
    longest: f64,
}

impl Naive {
    fn new(raw: Raw<'_>) -> Self {
        let rows = |table: &Matrix| -> Vec<Vec<f64>> {
            let row = |r| {
                let row: Vec<f64> = table.row(r).iter().map(|&x| f64::from(x)).collect();
                let length = norm(&row);
                if raw.cosine && length > 0.0 { row.iter().map(|x| x / length).collect() } else { row }
            };
            (0..table.rows()).map(row).collect()
        };
        let (users, items) = (rows(raw.users), rows(raw.items));
        let longest = items.iter().map(|row| norm(row)).fold(0.0, f64::max);
        Self { users, items, longest }
    }

    fn score(&self, user: u32, item: u32) -> f64 {
        let (user, item) = (&self.users[user as usize], &self.items[item as usize]);
        user.iter().zip(item).map(|(a, b)| a * b).sum()
    }

    /// How far an f32 score may be from the true one, for each of two scores that are compared.
    fn rounding(&self, user: u32) -> f64 {
        let user = &self.users[user as usize];
        2.0 * (user.len() + 16) as f64 * f64::from(f32::EPSILON) * norm(user) * self.longest
    }
}

fn norm(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Whether every list is a right one; for how many users f64 would have ordered items differently.
fn check_lists(naive: &Naive, lists: &Lists, masks: &[&Interactions]) -> Result<usize> {
    let wrong =
        |user: u32, what: String| Error::Unverified { what: format!("the list of user {user} {what}") };
    let check = |n: usize| -> Result<bool> {
        let user = lists.users()[n];
        let masked: BTreeSet<u32> = masks.iter().flat_map(|mask| mask.items_of(user)).copied().collect();
        let list = lists.items(n);
        let listed: BTreeSet<u32> = list.iter().copied().collect();
        let free = naive.items.len() - masked.len();
        if listed.len() != list.len() || list.len() != free.min(lists.k) {
            return Err(wrong(user, format!("has {} items, {} of them different", list.len(), listed.len())));
        }
        if let Some(item) = listed.intersection(&masked).next() {
            return Err(wrong(user, format!("holds item {item}, which is masked")));
        }
        let rounding = naive.rounding(user);
        let scores: Vec<f64> = list.iter().map(|&item| naive.score(user, item)).collect();
        let mut reordered = false;
        for (places, scores) in list.windows(2).zip(scores.windows(2)) {
            if scores[1] > scores[0] + rounding {
                return Err(wrong(user, format!("has item {} before {}", places[0], places[1])));
            }
            reordered |= scores[1] > scores[0];
        }
        let Some(&last) = scores.last() else { return Ok(false) };
        for item in
            (0..naive.items.len() as u32).filter(|item| !masked.contains(item) && !listed.contains(item))
        {
            let score = naive.score(user, item);
            if score > last + rounding {
                return Err(wrong(
                    user,
                    format!("lacks item {item}, which scores {score} and its last {last}"),
                ));
            }
            reordered |= score > last;
        }
        Ok(reordered)
    };
    let checks: Vec<Result<bool>> = (0..lists.users().len()).into_par_iter().map(check).collect();
    let reordered = checks.into_iter().collect::<Result<Vec<bool>>>()?;
    Ok(reordered.into_iter().filter(|&reordered| reordered).count())
}

/// Sums of metrics over users.
struct Sums {
    users: usize,
    sums: BTreeMap<String, f64>,
}

impl Sums {
    fn over(&self, users: usize) -> BTreeMap<String, f64> {
        let means = self.sums.iter().map(|(name, sum)| (name.clone(), sum / users as f64));
        if self.users == 0 { BTreeMap::new() } else { means.collect() }
    }
}

/// Every metric of every user who has something to find.
fn naive_means(lists: &Lists, truth: impl Fn(u32) -> BTreeSet<u32>, ks: &[usize]) -> Sums {
    let mut all = Sums { users: 0, sums: BTreeMap::new() };
    for (n, &user) in lists.users().iter().enumerate() {
        let truth = truth(user);
        if truth.is_empty() {
            continue;
        }
        all.users += 1;
        for &k in ks {
            let hit: Vec<bool> = lists.items(n).iter().take(k).map(|item| truth.contains(item)).collect();
            for (label, value) in definitions(&hit, truth.len(), k) {
                *all.sums.entry(format!("{label}@{k}")).or_default() += value;
            }
        }
    }
    all
}

/// The metrics as they are defined, of one list.
fn definitions(hit: &[bool], relevant: usize, k: usize) -> [(&'static str, f64); 6] {
    let found = hit.iter().filter(|&&hit| hit).count() as f64;
    let best = relevant.min(k);
    let (mut dcg, mut precisions, mut first, mut so_far) = (0.0, 0.0, 0.0, 0.0);
    for (place, _) in hit.iter().enumerate().filter(|&(_, &hit)| hit) {
        let rank = (place + 1) as f64;
        so_far += 1.0;
        dcg += 1.0 / (rank + 1.0).log2();
        precisions += so_far / rank;
        first = if first == 0.0 { 1.0 / rank } else { first };
    }
    let ideal: f64 = (1..=best).map(|rank| 1.0 / (rank as f64 + 1.0).log2()).sum();
    [
        ("Recall", found / relevant as f64),
        ("NDCG", dcg / ideal),
        ("Precision", found / k as f64),
        ("HitRate", if found > 0.0 { 1.0 } else { 0.0 }),
        ("MRR", first),
        ("MAP", precisions / best as f64),
    ]
}

/// Coverage, popularity and Gini as they are defined: the latter as the mean difference of all pairs of items.
fn naive_beyond(lists: &Lists, train: &Interactions, ks: &[usize]) -> BTreeMap<String, f64> {
    let n_items = train.n_items();
    let mut values = BTreeMap::new();
    for &k in ks {
        let mut shown = vec![0.0; n_items];
        let (mut popularity, mut places) = (0.0, 0.0);
        let counts = train.item_counts();
        for n in 0..lists.users().len() {
            for &item in lists.items(n).iter().take(k) {
                shown[item as usize] += 1.0;
                popularity += f64::from(counts[item as usize]);
                places += 1.0;
            }
        }
        let different = |a: &f64| shown.iter().map(|b| (a - b).abs()).sum::<f64>();
        let spread: f64 = shown.par_iter().map(different).collect::<Vec<f64>>().iter().sum();
        let covered = shown.iter().filter(|&&times| times > 0.0).count();
        values.insert(format!("Coverage@{k}"), covered as f64 / n_items as f64);
        values.insert(format!("AveragePopularity@{k}"), popularity / f64::max(places, 1.0));
        values.insert(format!("Gini@{k}"), spread / (2.0 * n_items as f64 * f64::max(places, 1.0)));
    }
    values
}

/// What was held against each other so far.
#[derive(Default)]
struct Checked {
    figures: usize,
    largest_difference: f64,
}

impl Checked {
    /// All that was reported was computed again, and agrees.
    fn hold(
        &mut self,
        of: &str,
        reported: &BTreeMap<String, f64>,
        again: &BTreeMap<String, f64>,
    ) -> Result<()> {
        let name = |figure: &str| format!("{figure}{}{of}", if of.is_empty() { "" } else { " of the " });
        if !reported.keys().eq(again.keys()) {
            let what =
                format!("{} has other figures: {:?}, {:?}", name("what"), reported.keys(), again.keys());
            return Err(Error::Unverified { what });
        }
        for (figure, &value) in reported {
            let difference = (value - again[figure]).abs() / value.abs().max(1.0);
            if difference.is_nan() || difference > TOLERANCE {
                let what = format!("{} is reported as {value}, but is {}", name(figure), again[figure]);
                return Err(Error::Unverified { what });
            }
            self.figures += 1;
            self.largest_difference = self.largest_difference.max(difference);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{DataConfig, LoadOptions, load};
    use crate::eval::{METRICS, Mask};

    fn tables() -> (Dataset, Matrix, Matrix) {
        let dataset = load(&DataConfig::new("synthetic"), &LoadOptions::default(), &mut |_| {}).unwrap();
        let wave = |r: usize, c: usize| ((r * 13 + c * 5) as f32).sin();
        let users = Matrix::from_fn(dataset.users.len(), 24, wave);
        let items = Matrix::from_fn(dataset.items.len(), 24, |r, c| wave(c, r));
        (dataset, users, items)
    }

    fn all() -> EvalOptions {
        EvalOptions { k: vec![3, 20], buckets: true, beyond_accuracy: true, ..EvalOptions::default() }
    }

    #[test]
    fn every_metric_has_its_definition_here() {
        let labels: Vec<&str> = METRICS.iter().map(|metric| metric.label).collect();
        assert_eq!(definitions(&[true], 1, 1).map(|(label, _)| label).to_vec(), labels);
    }

    #[test]
    fn right_figures_pass_in_every_protocol() {
        let (dataset, users, items) = tables();
        for (mask, average) in [(Mask::Train, Average::All), (Mask::TrainValid, Average::Evaluable)] {
            let options = EvalOptions { mask, average, ..all() };
            for part in [Part::Test, Part::Valid] {
                let raw = Raw { users: &users, items: &items, cosine: false };
                let found = verify([&users, &items], raw, &dataset, part, &options).unwrap();
                assert_eq!(found.figures, 2 * (3 * METRICS.len() + 3));
                assert!(found.largest_difference <= TOLERANCE);
            }
        }
    }

    #[test]
    fn a_ranking_by_other_scores_is_found_out() {
        let (dataset, users, items) = tables();
        let mut others = items.clone();
        others.row_mut(7).iter_mut().for_each(|x| *x *= 1.5);
        let raw = Raw { users: &users, items: &items, cosine: false };
        let error = verify([&users, &others], raw, &dataset, Part::Test, &all()).unwrap_err();
        assert!(error.to_string().contains("the list of user"), "{error}");
        assert_eq!(error.exit_code(), 1);
        // The cosine of these rows is not their dot product.
        let raw = Raw { cosine: true, ..raw };
        assert!(verify([&users, &items], raw, &dataset, Part::Test, &all()).is_err());
    }

    #[test]
    fn a_figure_that_is_off_or_no_number_is_found_out() {
        let figures = |value: f64| BTreeMap::from([("NDCG@20".to_owned(), value)]);
        let mut checked = Checked::default();
        assert!(checked.hold("", &figures(0.5), &figures(0.5)).is_ok());
        for wrong in [0.5001, f64::NAN] {
            let error = checked.hold("head", &figures(wrong), &figures(0.5)).unwrap_err().to_string();
            assert!(error.contains("NDCG@20 of the head"), "{error}");
        }
        assert!(checked.hold("", &figures(0.5), &BTreeMap::new()).is_err());
    }
}
