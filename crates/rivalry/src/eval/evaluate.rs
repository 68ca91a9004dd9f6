//! From a scorer to metrics.

use std::ops::ControlFlow;

use serde::Serialize;

use super::beyond::beyond_accuracy;
use super::bucket::{Bucket, head_and_tail};
use super::{Average, EvalOptions, EvalPart, HeldOut, Metrics, PerUser, check};
use crate::Result;
use crate::data::Dataset;
use crate::ranker::{Candidates, QUERIES, RankedLists, rank};
use crate::scorer::Scorer;

/// Scores that each thread computes between two progress reports.
const SCORES_PER_REPORT: usize = 1 << 26;

/// The result of an evaluation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// The mean of each metric, by names such as `Recall@20`.
    pub metrics: Metrics,
    /// The number of users with held-out items, for whom items were ranked.
    pub users: usize,
    /// The values of each user, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_user: Option<PerUser>,
    /// The metrics of the most frequent 20 % of the items, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Bucket>,
    /// The metrics of the least frequent 20 % of the items, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<Bucket>,
    /// `Coverage@K`, `AveragePopularity@K` and `Gini@K`, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<Metrics>,
}

/// Ranks all items for every user with held-out items, and measures the lists.
///
/// A held-out item that is also masked can't be found, but counts as held out.
///
/// # Errors
/// If a `k` is 0 or exceeds the number of items, the part is empty, the model is not of this data set, or a score is
/// NaN.
pub fn evaluate(
    scorer: &dyn Scorer,
    dataset: &Dataset,
    part: EvalPart,
    options: &EvalOptions,
) -> Result<Evaluation> {
    let evaluation =
        evaluate_with_progress(scorer, dataset, part, options, &mut |_| ControlFlow::Continue(()))?;
    Ok(evaluation.expect("nobody asked to stop"))
}

/// [`evaluate`] with reports of how many users are ranked so far. `Break` stops it; then there is no result.
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_with_progress(
    scorer: &dyn Scorer,
    dataset: &Dataset,
    part: EvalPart,
    options: &EvalOptions,
    progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Option<Evaluation>> {
    check::sizes(scorer, dataset)?;
    let longest = check::list_lengths(&options.k, scorer.n_items())?;
    let held_out = HeldOut::of(dataset, part, options)?;
    let Some(lists) = ranked_lists(scorer, &held_out, longest, progress)? else { return Ok(None) };
    let HeldOut { truth, users, .. } = held_out;
    let per_user = PerUser::measure(&lists, truth, &options.k);
    let n_users = match options.average {
        Average::Evaluable => users.len(),
        Average::All => truth.n_users(),
    };
    let (head, tail) = if options.buckets {
        let (head, tail) = head_and_tail(&dataset.train);
        let measure = |bucket: &[u32]| Some(Bucket::measure(&lists, truth, bucket, &options.k));
        (measure(&head), measure(&tail))
    } else {
        (None, None)
    };
    Ok(Some(Evaluation {
        metrics: per_user.means(n_users),
        users: users.len(),
        head,
        tail,
        beyond: options.beyond_accuracy.then(|| beyond_accuracy(&lists, &dataset.train, &options.k)),
        per_user: options.per_user.then_some(per_user),
    }))
}

/// The lists of all evaluated users, unless the callback asks to stop.
pub(super) fn ranked_lists(
    scorer: &dyn Scorer,
    held_out: &HeldOut<'_>,
    k: usize,
    progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Option<RankedLists>> {
    crate::ranker::check::memory(held_out.users.len(), k, held_out.memory)?;
    let blocks = (SCORES_PER_REPORT / (QUERIES * scorer.n_items())).max(1);
    let portion = blocks * QUERIES * rayon::current_num_threads();
    let mut all = RankedLists::default();
    for users in held_out.users.chunks(portion) {
        let candidates = held_out.masks(users).fold(Candidates::all(scorer.n_items()), Candidates::without);
        all.append(rank(scorer, &scorer.query(users), users, &candidates, k)?);
        if progress(all.queries().len()).is_break() {
            return Ok(None);
        }
    }
    Ok(Some(all))
}
