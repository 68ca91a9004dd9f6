//! Verification: every list and figure computed again in `f64`, by the plainest arithmetic. It shares no arithmetic with
//! the ranking it checks; it is slow.

mod definitions;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use rayon::prelude::*;
use serde::Serialize;

use self::definitions::{naive_beyond, naive_means};
use super::bucket::head_and_tail;
use super::evaluate::ranked_lists;
use super::{Average, EvalOptions, EvalPart, Evaluation, HeldOut, Metrics, evaluate};
use crate::data::{Dataset, Interactions};
use crate::ranker::RankedLists;
use crate::scorer::{ReferenceScores, Scorer};
use crate::{Error, Result};

/// An evaluation that was verified.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verification {
    /// The evaluation itself.
    #[serde(skip)]
    pub evaluation: Evaluation,
    /// The number of figures that were computed again.
    pub figures: usize,
    /// The largest difference between a figure and its recomputation.
    pub largest_difference: f64,
    /// The number of users whose list is in another order than in `f64`, with scores that are equal within `f32`
    /// rounding.
    pub reordered_users: usize,
}

/// Sums of the same numbers in another order may differ by this much.
const TOLERANCE: f64 = 1e-12;

/// Evaluates a model, and checks every list and every figure against a recomputation in `f64` from the model's
/// [reference scores](Scorer::reference_scores) and the data.
///
/// A list is right if it holds no masked item, no candidate outside it scores higher than its last item, and its scores
/// never rise, all within `f32` rounding. A figure is right if it is the mean of its definition over these lists.
///
/// # Errors
/// As [`evaluate`]; and if a list or a figure is not right.
pub fn verify(
    scorer: &dyn Scorer,
    dataset: &Dataset,
    part: EvalPart,
    options: &EvalOptions,
) -> Result<Verification> {
    let evaluation = evaluate(scorer, dataset, part, options)?;
    let held_out = HeldOut::of(dataset, part, options)?;
    let longest = options.k.iter().copied().max().unwrap_or_default();
    let lists = ranked_lists(scorer, &held_out, longest, &mut |_| ControlFlow::Continue(()))?;
    let lists = lists.expect("nobody asked to stop");
    let HeldOut { truth, masked, .. } = held_out;
    let reordered_users = check_lists(scorer, &lists, &masked)?;

    let mut checked = Checked::default();
    let means = naive_means(&lists, |user| truth.items_of(user).iter().copied().collect(), &options.k);
    let users = match options.average {
        Average::Evaluable => means.users,
        Average::All => truth.n_users(),
    };
    checked.compare("", &evaluation.metrics, &means.over(users))?;
    if options.buckets {
        let (head, tail) = head_and_tail(&dataset.train);
        for (name, bucket, items) in [("head", &evaluation.head, head), ("tail", &evaluation.tail, tail)] {
            let items: BTreeSet<u32> = items.into_iter().collect();
            let in_bucket =
                |user| truth.items_of(user).iter().copied().filter(|i| items.contains(i)).collect();
            let means = naive_means(&lists, in_bucket, &options.k);
            let reported = bucket.as_ref().map(|bucket| &bucket.metrics);
            checked.compare(name, reported.unwrap_or(&Metrics::default()), &means.over(means.users))?;
        }
    }
    if let Some(beyond) = &evaluation.beyond {
        checked.compare("lists", beyond, &naive_beyond(&lists, &dataset.train, &options.k))?;
    }
    let Checked { figures, largest_difference } = checked;
    Ok(Verification { evaluation, figures, largest_difference, reordered_users })
}

/// Checks every list. Returns the number of users whose items `f64` would have ordered differently.
fn check_lists(scorer: &dyn Scorer, lists: &RankedLists, masked: &[&Interactions]) -> Result<usize> {
    let wrong =
        |user: u32, what: String| Error::Unverified { what: format!("the list of user {user} {what}") };
    let check = |n: usize| -> Result<bool> {
        let user = lists.queries()[n];
        let masked: BTreeSet<u32> = masked.iter().flat_map(|mask| mask.items_of(user)).copied().collect();
        let list = lists.items(n);
        let listed: BTreeSet<u32> = list.iter().copied().collect();
        let ReferenceScores { scores, rounding } = scorer.reference_scores(user);
        let free = scores.len() - masked.len();
        if listed.len() != list.len() || list.len() != free.min(lists.k()) {
            return Err(wrong(user, format!("has {} items, {} of them different", list.len(), listed.len())));
        }
        if let Some(item) = listed.intersection(&masked).next() {
            return Err(wrong(user, format!("holds item {item}, which is masked")));
        }
        let score = |item: u32| scores[item as usize];
        let mut reordered = false;
        for pair in list.windows(2) {
            if score(pair[1]) > score(pair[0]) + rounding {
                return Err(wrong(user, format!("has item {} before {}", pair[0], pair[1])));
            }
            reordered |= score(pair[1]) > score(pair[0]);
        }
        let Some(last) = list.last().map(|&item| score(item)) else { return Ok(false) };
        for item in (0..scores.len() as u32).filter(|item| !masked.contains(item) && !listed.contains(item)) {
            if score(item) > last + rounding {
                let what = format!("lacks item {item}, which scores {} and its last {last}", score(item));
                return Err(wrong(user, what));
            }
            reordered |= score(item) > last;
        }
        Ok(reordered)
    };
    let checks: Vec<Result<bool>> = (0..lists.queries().len()).into_par_iter().map(check).collect();
    let reordered = checks.into_iter().collect::<Result<Vec<bool>>>()?;
    Ok(reordered.into_iter().filter(|&reordered| reordered).count())
}

/// The figures that were compared so far.
#[derive(Default)]
struct Checked {
    figures: usize,
    largest_difference: f64,
}

impl Checked {
    /// Compares reported figures with recomputed ones.
    fn compare(&mut self, of: &str, reported: &Metrics, again: &Metrics) -> Result<()> {
        let name = |figure: &str| format!("{figure}{}{of}", if of.is_empty() { "" } else { " of the " });
        if !reported.keys().eq(again.keys()) {
            let what =
                format!("{} has other figures: {:?}, {:?}", name("what"), reported.keys(), again.keys());
            return Err(Error::Unverified { what });
        }
        for (&figure, &value) in reported {
            let difference = (value - again[figure]).abs() / value.abs().max(1.0);
            if difference.is_nan() || difference > TOLERANCE {
                let what =
                    format!("{} is reported as {value}, but is {}", name(&figure.to_string()), again[figure]);
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
    use super::definitions::definitions;
    use super::*;
    use crate::Matrix;
    use crate::backbone::{Embeddings, Score};
    use crate::data::{DataConfig, LoadOptions, load};
    use crate::eval::{METRICS, Mask, MetricAt};
    use crate::scorer::{EmbeddingScorer, ItemBlock, Query};

    fn dataset() -> Dataset {
        load(&DataConfig::new("synthetic"), &LoadOptions::default(), &mut |_| {}).unwrap()
    }

    fn scorer(dataset: &Dataset, score: Score) -> EmbeddingScorer<'static> {
        let wave = |r: usize, c: usize| ((r * 13 + c * 5) as f32).sin();
        let users = Matrix::from_fn(dataset.users.len(), 24, wave);
        let items = Matrix::from_fn(dataset.items.len(), 24, |r, c| wave(c, r));
        EmbeddingScorer::new(Embeddings { users, items }, score)
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
        let dataset = dataset();
        for (mask, average) in [(Mask::Train, Average::All), (Mask::TrainValid, Average::Evaluable)] {
            let options = EvalOptions { mask, average, ..all() };
            for part in [EvalPart::Test, EvalPart::Valid] {
                for score in [Score::Dot, Score::Cosine] {
                    let found = verify(&scorer(&dataset, score), &dataset, part, &options).unwrap();
                    assert_eq!(found.figures, 2 * (3 * METRICS.len() + 3));
                    assert!(found.largest_difference <= TOLERANCE);
                }
            }
        }
    }

    /// Ranks by one model's scores, and gives another's for reference.
    struct Mismatched(EmbeddingScorer<'static>, EmbeddingScorer<'static>);

    impl Scorer for Mismatched {
        fn n_users(&self) -> usize {
            self.0.n_users()
        }

        fn n_items(&self) -> usize {
            self.0.n_items()
        }

        fn query(&self, users: &[u32]) -> Query {
            self.0.query(users)
        }

        fn fold_in(&self, histories: &Interactions) -> Query {
            self.0.fold_in(histories)
        }

        fn score(&self, query: &Query, items: ItemBlock<'_>, out: &mut Matrix) {
            self.0.score(query, items, out);
        }

        fn reference_scores(&self, user: u32) -> ReferenceScores {
            self.1.reference_scores(user)
        }
    }

    #[test]
    fn a_ranking_by_other_scores_is_found_out() {
        let dataset = dataset();
        // The cosine of these rows is not their dot product.
        let mismatched = Mismatched(scorer(&dataset, Score::Dot), scorer(&dataset, Score::Cosine));
        let error = verify(&mismatched, &dataset, EvalPart::Test, &all()).unwrap_err();
        assert!(error.to_string().contains("the list of user"), "{error}");
        assert_eq!(error.exit_code(), 1);
        let mut embeddings = scorer(&dataset, Score::Dot).embeddings().unwrap().clone();
        embeddings.items.row_mut(7).iter_mut().for_each(|x| *x *= 1.5);
        let scaled = EmbeddingScorer::new(embeddings, Score::Dot);
        let mismatched = Mismatched(scaled, scorer(&dataset, Score::Dot));
        assert!(verify(&mismatched, &dataset, EvalPart::Test, &all()).is_err());
    }

    #[test]
    fn a_figure_that_is_wrong_or_not_a_number_is_found_out() {
        let figures = |value: f64| Metrics::from_iter([(MetricAt::ndcg(20), value)]);
        let mut checked = Checked::default();
        assert!(checked.compare("", &figures(0.5), &figures(0.5)).is_ok());
        for wrong in [0.5001, f64::NAN] {
            let error = checked.compare("head", &figures(wrong), &figures(0.5)).unwrap_err().to_string();
            assert!(error.contains("NDCG@20 of the head"), "{error}");
        }
        assert!(checked.compare("", &figures(0.5), &Metrics::default()).is_err());
    }
}
