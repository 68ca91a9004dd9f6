//! From final embeddings to figures.

use super::bucket::{Bucket, head_and_tail};
use super::{Average, EvalOptions, Lists, Mask, Part, PerUser, beyond::beyond_accuracy, check, top_k_lists};
use crate::data::{Dataset, Interactions};
use crate::{InputError, Matrix, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Scores each thread computes between two looks at whether to go on, and users it takes at least.
const PORTION: usize = 1 << 26;
const USERS: usize = 256;

/// What an evaluation found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// The mean of each metric, by names such as `Recall@20`.
    pub metrics: BTreeMap<String, f64>,
    /// How many users had held-out items and were ranked for.
    pub users: usize,
    /// Each user's values, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_user: Option<PerUser>,
    /// How well the most frequent 20 % of the items were found, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Bucket>,
    /// How well the least frequent 20 % of the items were found, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<Bucket>,
    /// `Coverage@K`, `AveragePopularity@K` and `Gini@K`, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<BTreeMap<String, f64>>,
}

/// Ranks all items for every user with held-out items and measures the lists.
///
/// `users` and `items` are final embeddings: the score is their dot product, so where it is the cosine they come
/// normalised. A held-out item that is also masked can't be found, but counts as held out.
///
/// # Errors
/// If a `k` is 0 or exceeds the number of items, the part is empty, the embeddings are not of this data set,
/// or a score is NaN.
pub fn evaluate(
    users: &Matrix,
    items: &Matrix,
    dataset: &Dataset,
    part: Part,
    options: &EvalOptions,
) -> Result<Evaluation> {
    let evaluation =
        evaluate_watched(users, items, dataset, part, options, &mut |_| ControlFlow::Continue(()))?;
    Ok(evaluation.expect("nobody asked to stop"))
}

/// [`evaluate`], telling now and then for how many users the ranking is done. `Break` ends it, and nothing comes of it.
pub fn evaluate_watched(
    users: &Matrix,
    items: &Matrix,
    dataset: &Dataset,
    part: Part,
    options: &EvalOptions,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Option<Evaluation>> {
    check::same_world(users, items, dataset)?;
    let longest = check::list_lengths(&options.k, items.rows())?;
    let Truth { held_out, masks, targets } = Truth::of(dataset, part, options)?;
    check::fits(targets.len(), longest)?;
    let Some(lists) = watched_lists(users, items, &targets, &masks, longest, watch)? else { return Ok(None) };
    let per_user = PerUser::measure(&lists, held_out, &options.k);
    let n_users = match options.average {
        Average::Evaluable => targets.len(),
        Average::All => held_out.n_users(),
    };
    let (head, tail) = if options.buckets {
        let (head, tail) = head_and_tail(&dataset.train);
        let measure = |bucket: &[u32]| Some(Bucket::measure(&lists, held_out, bucket, &options.k));
        (measure(&head), measure(&tail))
    } else {
        (None, None)
    };
    Ok(Some(Evaluation {
        metrics: per_user.means(n_users),
        users: targets.len(),
        head,
        tail,
        beyond: options.beyond_accuracy.then(|| beyond_accuracy(&lists, &dataset.train, &options.k)),
        per_user: options.per_user.then_some(per_user),
    }))
}

/// What is to be found, what may not be recommended, and for whom.
pub(super) struct Truth<'a> {
    pub held_out: &'a Interactions,
    pub masks: Vec<&'a Interactions>,
    pub targets: Vec<u32>,
}

impl<'a> Truth<'a> {
    pub fn of(dataset: &'a Dataset, part: Part, options: &EvalOptions) -> Result<Self> {
        let Dataset { train, valid, test, .. } = dataset;
        let (held_out, masks) = match (part, options.mask) {
            (Part::Valid, _) => (valid, vec![train]),
            (Part::Test, Mask::Train) => (test, vec![train]),
            (Part::Test, Mask::TrainValid) => (test, vec![train, valid]),
        };
        let has_some = |&user: &u32| !held_out.items_of(user).is_empty();
        let targets: Vec<u32> = (0..held_out.n_users() as u32).filter(has_some).collect();
        if targets.is_empty() {
            return Err(nothing_held_out(dataset, part).into());
        }
        Ok(Self { held_out, masks, targets })
    }
}

/// [`top_k_lists`] in portions, none of which takes long.
fn watched_lists(
    users: &Matrix,
    items: &Matrix,
    targets: &[u32],
    masks: &[&Interactions],
    k: usize,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Option<Lists>> {
    let blocks = (PORTION / (USERS * items.rows())).max(1);
    let portion = blocks * USERS * rayon::current_num_threads();
    let mut all = Lists { k, ..Lists::default() };
    for targets in targets.chunks(portion) {
        all.append(top_k_lists(users, items, targets, masks, k)?);
        if watch(all.users.len()).is_break() {
            return Ok(None);
        }
    }
    Ok(Some(all))
}

fn nothing_held_out(dataset: &Dataset, part: Part) -> InputError {
    let (name, way_out) = match part {
        Part::Valid => ("validation", "evaluate the test part, or split the data with a validation part"),
        Part::Test => ("test", "split the data so that some interactions are held out"),
    };
    InputError::new(format!("the {name} part of '{}' is empty, so there is nothing to measure", dataset.name))
        .help(way_out)
}
