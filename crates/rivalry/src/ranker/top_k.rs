//! Full ranking: for each query the best of all candidates.

use rayon::prelude::*;
use rivalry_kernels::TopKSelector;

use super::lists::BlockMut;
use super::{Candidates, RankedLists};
use crate::scorer::{ITEMS_AT_ONCE, ItemBlock, Query, Scorer};
use crate::{Error, Matrix, Result};

/// Queries that one thread ranks at a time. The scores of such a block and of a block of items stay in the second-level
/// cache until the top K are taken.
pub const QUERIES: usize = 256;

/// The `k` best candidates of each query. `ids` names the queries: the users, or the items whose neighbours are wanted.
///
/// Of equal scores the lower item comes first. Lists are the same bits for any number of threads and whatever other
/// queries are ranked along.
pub(super) fn top_k(ranking: &Ranking<'_>, query: &Query, ids: &[u32], k: usize) -> Result<RankedLists> {
    assert_eq!(query.len(), ids.len(), "one id per query");
    let mut lists = RankedLists::new(ids, k);
    if ids.len() <= QUERIES {
        // One block is ranked by the calling thread: waking another would cost more than a short list does.
        for block in lists.blocks_mut(QUERIES) {
            ranking.rank_block(query, 0, block, &mut Scratch::default())?;
        }
        return Ok(lists);
    }
    let blocks: Vec<BlockMut<'_>> = lists.blocks_mut(QUERIES).collect();
    let rank = |scratch: &mut Scratch, (number, block): (usize, BlockMut<'_>)| {
        let first = number * QUERIES;
        let query = query.slice(first..first + block.queries.len());
        ranking.rank_block(&query, first, block, scratch)
    };
    let results: Vec<Result<()>> =
        blocks.into_par_iter().enumerate().map_init(Scratch::default, rank).collect();
    // The error of the first block, whichever thread came first.
    results.into_iter().collect::<Result<()>>()?;
    Ok(lists)
}

/// What scores, and what may be in the lists.
pub(super) struct Ranking<'a> {
    pub scorer: &'a dyn Scorer,
    pub candidates: &'a Candidates<'a>,
}

/// The memory a thread works in, reused from block to block.
#[derive(Default)]
struct Scratch {
    scores: Matrix,
    tops: Vec<TopKSelector>,
}

impl Ranking<'_> {
    /// Ranks a block of queries, the first of which is number `first`.
    fn rank_block(
        &self,
        query: &Query,
        first: usize,
        mut block: BlockMut<'_>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        scratch.tops.resize_with(query.len(), || TopKSelector::new(block.k()));
        scratch.tops.iter_mut().for_each(TopKSelector::clear);
        // Where more items are scored at a time, fewer queries are, so that the scores still stay in the cache.
        let queries = (QUERIES * ITEMS_AT_ONCE / self.items_at_once()).max(1);
        if query.len() <= queries {
            self.push_scores(query, first, &mut scratch.scores, &mut scratch.tops);
        } else {
            for (part, tops) in scratch.tops.chunks_mut(queries).enumerate() {
                let start = part * queries;
                let query = query.slice(start..start + tops.len());
                self.push_scores(&query, first + start, &mut scratch.scores, tops);
            }
        }
        for (row, top) in scratch.tops.iter_mut().enumerate() {
            let best = top.sorted().ok_or(Error::NanScore { user: block.queries[row] })?;
            block.set(row, best.iter().map(|&(score, place)| (self.candidates.item(place), score)));
        }
        Ok(())
    }

    fn items_at_once(&self) -> usize {
        self.scorer.items_at_once().clamp(1, self.candidates.len().max(1))
    }

    /// Shows the scores of all candidates to the selectors of these queries, the first of which is number `first`.
    fn push_scores(&self, query: &Query, first: usize, scores: &mut Matrix, tops: &mut [TopKSelector]) {
        let n = self.candidates.len();
        let at_once = self.items_at_once();
        for start in (0..n).step_by(at_once) {
            let items = self.candidates.block(start..(start + at_once).min(n));
            self.scorer.score(query, items.clone(), scores);
            for (row, top) in tops.iter_mut().enumerate() {
                let scores = scores.row_mut(row);
                self.candidates.mask(first + row, &items, scores);
                top.push_block(scores, start as u32);
            }
        }
    }
}

/// Sets to minus infinity the scores of those of the items that an ascending list holds.
pub(super) fn mask(scores: &mut [f32], items: &ItemBlock<'_>, list: &[u32]) {
    match items {
        ItemBlock::Range(range) => {
            let from = list.partition_point(|&item| item < range.start);
            for &item in list[from..].iter().take_while(|&&item| item < range.end) {
                scores[(item - range.start) as usize] = f32::NEG_INFINITY;
            }
        }
        ItemBlock::Ids(ids) => {
            for (score, id) in scores.iter_mut().zip(*ids) {
                if list.binary_search(id).is_ok() {
                    *score = f32::NEG_INFINITY;
                }
            }
        }
    }
}
