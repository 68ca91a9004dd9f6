//! From a scorer to metrics.

use std::ops::{ControlFlow, Range};

use serde::Serialize;

use super::beyond::beyond_accuracy;
use super::bucket::{Bucket, head_and_tail};
use super::{Average, EvalOptions, EvalPart, HeldOut, Metrics, PerUser, check};
use crate::Result;
use crate::collective::{Alone, Collective};
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
    let ranks = Ranks { collective: &Alone, users: 0..dataset.train.n_users() as u32, first_row: 0 };
    ranks.evaluate(scorer, (dataset, part), options, progress)
}

/// The processes that evaluate one model, each its own users.
pub struct Ranks<'a> {
    /// The processes.
    pub collective: &'a dyn Collective,
    /// The users of this one: rank 0 has the first, and so on.
    pub users: Range<u32>,
    /// The user that the scorer's users start with.
    pub first_row: u32,
}

impl Ranks<'_> {
    /// [`evaluate_with_progress`] where each process ranks for its own users. All ranks get the result for all users.
    ///
    /// # Errors
    /// As [`evaluate`], on any rank.
    pub fn evaluate(
        &self,
        scorer: &dyn Scorer,
        (dataset, part): (&Dataset, EvalPart),
        options: &EvalOptions,
        progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Option<Evaluation>> {
        let held_out = self.collective.agree(HeldOut::of(dataset, part, options))?;
        let lists = self.lists(scorer, dataset, (&held_out, options), progress);
        let lists = self.collective.agree(lists)?;
        if self.collective.any(lists.is_none()) {
            return Ok(None);
        }
        Ok(lists.map(|lists| self.measured(&lists, dataset, &held_out, options)))
    }

    /// The lists of this process's users, unless the callback asks to stop.
    fn lists(
        &self,
        scorer: &dyn Scorer,
        dataset: &Dataset,
        (held_out, options): (&HeldOut<'_>, &EvalOptions),
        progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Option<RankedLists>> {
        if self.collective.size() == 1 {
            check::sizes(scorer, dataset)?;
        }
        let longest = check::list_lengths(&options.k, scorer.n_items())?;
        ranked_lists(scorer, &held_out.of_users(self.users.clone(), self.first_row), longest, progress)
    }

    /// The metrics of the lists of all users; `lists` are those of this process's.
    fn measured(
        &self,
        lists: &RankedLists,
        dataset: &Dataset,
        held_out: &HeldOut<'_>,
        options: &EvalOptions,
    ) -> Evaluation {
        let HeldOut { truth, users, .. } = held_out;
        let (ks, collective) = (&options.k[..], self.collective);
        let per_user = PerUser::measure(lists, truth, ks);
        let n_users = match options.average {
            Average::Evaluable => users.len(),
            Average::All => truth.n_users(),
        };
        let (head, tail) = if options.buckets {
            let (head, tail) = head_and_tail(&dataset.train);
            let measure = |bucket: &[u32]| Some(Bucket::measure(lists, truth, bucket, (ks, collective)));
            (measure(&head), measure(&tail))
        } else {
            (None, None)
        };
        Evaluation {
            metrics: per_user.sums(collective).means(n_users),
            users: users.len(),
            head,
            tail,
            beyond: options.beyond_accuracy.then(|| beyond_accuracy(lists, &dataset.train, (ks, collective))),
            per_user: options.per_user.then(|| per_user.of_all(collective)),
        }
    }
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
        let query = match held_out.first_user {
            0 => scorer.query(users),
            first => scorer.query(&users.iter().map(|user| user - first).collect::<Vec<_>>()),
        };
        all.append(rank(scorer, &query, users, &candidates, k)?);
        if progress(all.queries().len()).is_break() {
            return Ok(None);
        }
    }
    Ok(Some(all))
}
