//! How the lists of the finalists differ, and what new users get.

use rivalry::data::{Dataset, Interactions};
use rivalry::eval::{EvalPart, MetricAt, evaluate};
use rivalry::memory::MemoryLimit;
use rivalry::ranker::{Filter, Ranker};
use rivalry::scorer::{ItemBlock, Query, ReferenceScores, Scorer};
use rivalry::{Matrix, Result};
use serde::{Deserialize, Serialize};

use crate::run::FinishedRun;

/// Lists are compared for this many users, evenly spread.
const USERS: usize = 1000;

/// What the models recommend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListsResult {
    /// The length of the lists.
    pub k: usize,
    /// The number of users whose lists were compared.
    pub users: usize,
    /// The mean share of items that the lists of two models have in common; models in the order of the result.
    pub overlap: Vec<Vec<f64>>,
    /// The metric of the winner if every user were new and known by their history alone (fold-in).
    pub new_users: f64,
}

/// Compares the lists of all models, and tests the first with new users.
pub(super) fn compare_lists(
    runs: &[FinishedRun],
    dataset: &Dataset,
    metric: MetricAt,
    memory: MemoryLimit,
) -> Result<ListsResult> {
    let k = metric.k();
    let known: Vec<u32> =
        (0..dataset.users.len() as u32).filter(|&user| !dataset.train.items_of(user).is_empty()).collect();
    let users: Vec<u32> = known.iter().copied().step_by(known.len().div_ceil(USERS).max(1)).collect();
    let (mut lists, mut new_users) = (Vec::new(), 0.0);
    for (place, run) in runs.iter().enumerate() {
        let ranker = Ranker::new(run.folder.model()?)?.with_memory_limit(memory);
        let ranked = ranker.recommend(&users, k, &Filter::default())?;
        let sorted = |n: usize| {
            let mut items = ranked.items(n).to_vec();
            items.sort_unstable();
            items
        };
        lists.push((0..users.len()).map(sorted).collect::<Vec<_>>());
        if place == 0 {
            let folded = FoldedIn { scorer: ranker.scorer(), histories: &dataset.train };
            let found = evaluate(&folded, dataset, EvalPart::Test, &run.config.eval)?;
            new_users = found.metrics.get(&metric).copied().unwrap_or_default();
        }
    }
    let overlap = |one: &Vec<Vec<u32>>, other: &Vec<Vec<u32>>| {
        let share = |(one, other): (&Vec<u32>, &Vec<u32>)| {
            let common = one.iter().filter(|item| other.binary_search(item).is_ok()).count();
            common as f64 / one.len().max(1) as f64
        };
        one.iter().zip(other).map(share).sum::<f64>() / users.len().max(1) as f64
    };
    let overlap = lists.iter().map(|one| lists.iter().map(|other| overlap(one, other)).collect()).collect();
    Ok(ListsResult { k, users: users.len(), overlap, new_users })
}

/// A model that knows its users by their histories alone.
struct FoldedIn<'a> {
    scorer: &'a dyn Scorer,
    histories: &'a Interactions,
}

impl Scorer for FoldedIn<'_> {
    fn n_users(&self) -> usize {
        self.scorer.n_users()
    }

    fn n_items(&self) -> usize {
        self.scorer.n_items()
    }

    fn query(&self, users: &[u32]) -> Query {
        self.scorer.fold_in(&self.histories.gather_users(users))
    }

    fn fold_in(&self, histories: &Interactions) -> Query {
        self.scorer.fold_in(histories)
    }

    fn score(&self, query: &Query, items: ItemBlock<'_>, out: &mut Matrix) {
        self.scorer.score(query, items, out);
    }

    fn reference_scores(&self, user: u32) -> ReferenceScores {
        self.scorer.reference_scores(user)
    }
}
