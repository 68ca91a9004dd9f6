//! Full ranking: for each user the best items of all, the masked ones left out.

use super::{Lists, check};
use crate::data::Interactions;
use crate::{Error, Matrix, Result};
use rayon::prelude::*;
use rivalry_kernels::{Lane, TopK, ZERO, score_block};

/// Users and items scored together: their scores stay in the second-level cache until the top K has read them.
/// Fixed, so that a user's list never depends on the number of threads.
const USERS: usize = 256;
const ITEMS: usize = 512;

/// The `k` best items of each of the `targets`, without those that any of the `masks` holds for the user.
///
/// The score is the dot product of final embeddings (already normalised where the score is the cosine). Of equal
/// scores the lower dense id comes first. The lists are the same bits for any number of threads.
///
/// # Errors
/// If the tables don't fit each other or the targets, `k` is not in `1..=items`, or a score is NaN.
///
/// # Panics
/// If a mask has no row for a target.
pub fn top_k_lists(
    users: &Matrix,
    items: &Matrix,
    targets: &[u32],
    masks: &[&Interactions],
    k: usize,
) -> Result<Lists> {
    rank(users, items, targets, |user| masks.iter().map(move |mask| mask.items_of(user)), k)
}

/// [`top_k_lists`] for any source of ascending lists of masked items.
pub(super) fn rank<'a, M>(
    users: &Matrix,
    items: &Matrix,
    targets: &[u32],
    masked: impl Fn(u32) -> M + Sync,
    k: usize,
) -> Result<Lists>
where
    M: Iterator<Item = &'a [u32]>,
{
    check::tables(users, items, targets)?;
    check::list_length(k, items.rows())?;
    let n = targets.len();
    check::fits(n, k)?;
    let mut lists = Lists {
        k,
        users: targets.to_vec(),
        lens: vec![0; n],
        items: vec![0; n * k],
        scores: vec![0.0; n * k],
    };
    let blocks: Vec<Result<()>> = targets
        .par_chunks(USERS)
        .zip(lists.lens.par_chunks_mut(USERS))
        .zip(lists.items.par_chunks_mut(USERS * k))
        .zip(lists.scores.par_chunks_mut(USERS * k))
        .map_init(
            || Scratch::new(users.lanes(), items.rows(), k),
            |scratch, (((targets, lens), ids), scores)| {
                scratch.rank_block(users, items, targets, &masked);
                scratch.write(targets, lens, ids, scores, k)
            },
        )
        .collect();
    blocks.into_iter().collect::<Result<()>>()?; // the first block's error, whichever thread was first
    Ok(lists)
}

/// What one thread needs to rank a block of users, used again for the next block.
struct Scratch {
    users: Vec<Lane>,
    scores: Vec<f32>,
    tops: Vec<TopK>,
}

impl Scratch {
    fn new(lanes: usize, n_items: usize, k: usize) -> Self {
        Self {
            users: vec![ZERO; USERS * lanes],
            scores: vec![0.0; USERS * ITEMS.min(n_items)],
            tops: vec![TopK::new(k); USERS],
        }
    }

    fn rank_block<'a, M>(
        &mut self,
        users: &Matrix,
        items: &Matrix,
        targets: &[u32],
        masked: &impl Fn(u32) -> M,
    ) where
        M: Iterator<Item = &'a [u32]>,
    {
        let lanes = users.lanes();
        // A short block is scored with whatever rows are left over: with the shape always the same, so is the
        // arithmetic, and a user's scores don't depend on who else is asked for.
        for (row, &user) in self.users.chunks_exact_mut(lanes).zip(targets) {
            row.copy_from_slice(users.row_lanes(user as usize));
        }
        self.tops.iter_mut().for_each(TopK::clear);
        for (block, first) in items.as_lanes().chunks(ITEMS * lanes).zip((0..).step_by(ITEMS)) {
            let n = block.len() / lanes;
            let scores = &mut self.scores[..USERS * n];
            score_block(&self.users, block, lanes, scores);
            for ((scores, top), &user) in scores.chunks_exact_mut(n).zip(&mut self.tops).zip(targets) {
                for list in masked(user) {
                    mask(scores, first, list);
                }
                top.push_block(scores, first);
            }
        }
    }

    fn write(
        &mut self,
        targets: &[u32],
        lens: &mut [u32],
        ids: &mut [u32],
        scores: &mut [f32],
        k: usize,
    ) -> Result<()> {
        for (n, (top, &user)) in self.tops.iter_mut().zip(targets).enumerate() {
            let best = top.sorted().ok_or(Error::NanScore { user })?;
            lens[n] = best.len() as u32;
            for (place, &(score, item)) in (n * k..).zip(best) {
                ids[place] = item;
                scores[place] = score;
            }
        }
        Ok(())
    }
}

/// Sets to minus infinity those scores (of items `first`, `first + 1`, …) whose items the ascending `list` holds.
fn mask(scores: &mut [f32], first: u32, list: &[u32]) {
    let from = list.partition_point(|&item| item < first);
    for &item in &list[from..] {
        let Some(score) = scores.get_mut((item - first) as usize) else { break };
        *score = f32::NEG_INFINITY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than one block each way; small whole numbers, so that scores are exact and ties abound.
    fn tables() -> (Matrix, Matrix, Interactions) {
        let (n_users, n_items) = (USERS + 9, 2 * ITEMS + 77);
        let users = Matrix::from_fn(n_users, 5, |r, c| ((r * 7 + c * 3) % 5) as f32 - 2.0);
        let items = Matrix::from_fn(n_items, 5, |r, c| ((r * 11 + c * r) % 7) as f32 - 3.0);
        let seen = (0..n_users as u32)
            .flat_map(|u| (0..60).map(move |i| (u, (u * 31 + i * i * 5) % n_items as u32)));
        (users, items, Interactions::from_pairs(n_users, n_items, seen))
    }

    fn naive(users: &Matrix, items: &Matrix, user: u32, mask: &Interactions, k: usize) -> Vec<u32> {
        let score = |i: u32| -> f32 {
            users.row(user as usize).iter().zip(items.row(i as usize)).map(|(a, b)| a * b).sum()
        };
        let mut all: Vec<u32> = (0..items.rows() as u32).filter(|&i| !mask.contains(user, i)).collect();
        all.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
        all.truncate(k);
        all
    }

    #[test]
    fn lists_agree_with_sorting_everything() {
        let (users, items, seen) = tables();
        let targets: Vec<u32> = (0..users.rows() as u32).rev().collect();
        for k in [1, 20, 300] {
            let lists = top_k_lists(&users, &items, &targets, &[&seen], k).unwrap();
            for (n, &user) in targets.iter().enumerate() {
                assert_eq!(lists.items(n), naive(&users, &items, user, &seen, k), "user {user}, k = {k}");
                assert!(lists.scores(n).is_sorted_by(|a, b| a >= b));
            }
        }
    }

    #[test]
    fn lists_do_not_depend_on_threads_or_company() {
        let (_, _, seen) = tables();
        let wave = |r: usize, c: usize| ((r * 13 + c * 5) as f32).sin();
        let users = Matrix::from_fn(seen.n_users(), 24, wave);
        let items = Matrix::from_fn(seen.n_items(), 24, |r, c| wave(c, r));
        let targets: Vec<u32> = (0..users.rows() as u32).collect();
        let with_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| top_k_lists(&users, &items, &targets, &[&seen], 10).unwrap())
        };
        let lists = with_threads(1);
        assert_eq!(lists, with_threads(3));
        let alone = top_k_lists(&users, &items, &[77], &[&seen], 10).unwrap();
        assert_eq!((alone.items(0), alone.scores(0)), (lists.items(77), lists.scores(77)));
    }

    #[test]
    fn a_user_with_every_item_gets_an_empty_list() {
        let (users, items) = (Matrix::zeros(2, 4), Matrix::zeros(3, 4));
        let seen = Interactions::from_pairs(2, 3, [(0, 0), (0, 1), (0, 2), (1, 1)]);
        let lists = top_k_lists(&users, &items, &[0, 1], &[&seen], 3).unwrap();
        assert_eq!((lists.items(0), lists.items(1)), (&[][..], &[0, 2][..]));
    }

    #[test]
    fn a_nan_score_names_its_user() {
        let (mut users, items, seen) = tables();
        users.row_mut(130)[2] = f32::NAN;
        users.row_mut(3)[1] = f32::NAN;
        let error = top_k_lists(&users, &items, &[2, 130, 3], &[&seen], 5).unwrap_err();
        assert!(matches!(error, Error::NanScore { user: 130 }), "{error}");
    }
}
