//! Scores against a pool of negatives that a stretch of the batch shares.
//!
//! The pool's rows are copied next to each other, so that scores and gradients are three matrix products. A row takes the
//! first places of the pool that hold no item of its user ([`Selection`](super::selection)): on large catalogues nearly all rows use the
//! pool as it is.

use rayon::prelude::*;
use rivalry_kernels::{
    LANES, Matrix, ZERO, add_to_rows, add_weighted_rows, add_weighted_sums, add_weighted_sums_transposed,
    chained_dots, dots_packed, pack_panels,
};

use super::Batch;
use super::item_list::ItemList;
use super::pool::{PACKED, Pool};
use super::score_rows::ScoreRows;
use super::scorer::{Draw, Fill, NegativeScorer, PackedScorer, Queries, ScoreGrads};

/// Rows of the batch that are worked on at a time: their scores stay in the second-level cache.
const ROWS: usize = 24;

/// Items of a pool whose gradients a task computes at a time.
const POOL_ITEMS: usize = 96;

/// Items of the table whose gradients a task collects at a time.
const ITEMS: usize = 256;

pub(super) struct PooledScorer {
    /// Rows of the batch that share a pool.
    sharing: usize,
    n_negatives: usize,
    pools: Vec<Pool>,
    /// The positives of the batch with their rows, in the order of the items.
    positives: Vec<(u32, u32)>,
    /// All items of the step.
    items: ItemList,
    queries: Matrix,
}

impl PooledScorer {
    pub fn new(sharing: usize) -> Self {
        Self {
            sharing,
            n_negatives: 0,
            pools: Vec::new(),
            positives: Vec::new(),
            items: ItemList::default(),
            queries: Matrix::default(),
        }
    }
}

/// A sixteenth more than a row needs, for those its user has; in whole lanes.
fn pool_size(n_negatives: usize) -> usize {
    (n_negatives + n_negatives.div_ceil(16)).next_multiple_of(LANES)
}

impl NegativeScorer for PooledScorer {
    fn draw(&mut self, batch: Batch<'_>, n_negatives: usize, draw: Draw<'_>) {
        let (n, sharing) = (n_negatives, self.sharing);
        self.n_negatives = n;
        self.pools.resize(batch.users.len().div_ceil(sharing), Pool::default());
        self.pools.par_iter_mut().zip(batch.users.par_chunks(sharing)).enumerate().for_each(
            |(stretch, (pool, users))| {
                pool.items.resize(pool_size(n), 0);
                draw(stretch * sharing, &mut pool.items);
                pool.find_seen(batch, users, n);
            },
        );
        self.positives.clear();
        self.positives.extend(batch.items.iter().copied().zip(0..));
        self.positives.sort_unstable();
        let drawn = self.pools.iter().flat_map(|pool| &pool.items[..pool.width()]);
        self.items.set(batch.train.n_items(), drawn.chain(batch.items).copied());
    }

    fn items(&self) -> Option<&[u32]> {
        Some(self.items.items())
    }

    fn renumber(&mut self, positives: &mut [u32]) {
        let renumber = self.items.numbering();
        self.pools.par_iter_mut().for_each(|pool| {
            // What the stretch doesn't use has no place.
            let width = pool.width();
            pool.table_rows.truncate(width);
            pool.by_row.retain(|&(_, place)| (place as usize) < width);
            pool.table_rows.iter_mut().for_each(renumber);
            pool.by_row.iter_mut().for_each(|(row, _)| renumber(row));
        });
        self.positives.iter_mut().for_each(|(row, _)| renumber(row));
        positives.iter_mut().for_each(renumber);
    }

    fn stride(&self, n_negatives: usize) -> usize {
        pool_size(n_negatives)
    }

    fn for_each_row(&self, values: &mut ScoreRows, fill: Fill<'_>) {
        let (n, stride) = (self.n_negatives, values.stride());
        values.values_mut().par_chunks_mut(stride).enumerate().for_each_init(
            Vec::new,
            |items, (row, values)| {
                let pool = &self.pools[row / self.sharing];
                items.clear();
                items.extend(pool.selection(row % self.sharing, n).places().map(|place| pool.items[place]));
                fill(row, items, &mut values[..n]);
            },
        );
    }

    fn add_prior(&self, prior: &[f32], scores: &mut ScoreRows) {
        let (n, stride) = (self.n_negatives, scores.stride());
        let stretches = scores.values_mut().par_chunks_mut(self.sharing * stride);
        self.pools.par_iter().zip(stretches).for_each(|(pool, scores)| {
            let used = &pool.items[..pool.width()];
            let prior: Vec<f32> = used.iter().map(|&item| prior[item as usize]).collect();
            let rows = scores.par_chunks_mut(stride).enumerate().with_min_len(ROWS);
            rows.for_each(|(row, scores)| pool.selection(row, n).add(&prior, scores));
        });
    }

    fn score(
        &mut self,
        first: Queries<'_>,
        out: &mut ScoreRows,
        second: Option<(Queries<'_>, &mut ScoreRows)>,
    ) {
        self.score_packed(first, out, second);
    }

    fn score_places(&self, row: usize, queries: Queries<'_>, places: &mut [u32], out: &mut [f32]) {
        let pool = &self.pools[row / self.sharing];
        let selection = pool.selection(row % self.sharing, self.n_negatives);
        places.iter_mut().for_each(|place| *place = selection.place(*place));
        chained_dots(queries.row(row), &pool.rows, places, out);
    }

    fn backward(
        &mut self,
        queries: Queries<'_>,
        grads: ScoreGrads<'_>,
        share: f32,
        query_grads: &mut Matrix,
        table_grads: &mut Matrix,
    ) {
        let (n, sharing, lanes) = (self.n_negatives, self.sharing, queries.table.lanes());
        self.queries.resize(queries.len(), queries.of.cols());
        let stride = grads.negatives.stride();
        if self.pools.iter().any(|pool| !pool.has_rows_of(queries.table)) {
            self.pools.par_iter_mut().for_each(|pool| pool.copy_rows(queries.table));
        }
        self.pools
            .par_iter()
            .zip(query_grads.as_lanes_mut().par_chunks_mut(sharing * lanes))
            .zip(self.queries.as_lanes_mut().par_chunks_mut(sharing * lanes))
            .zip(grads.negatives.values_mut().par_chunks_mut(sharing * stride))
            .enumerate()
            .for_each(|(stretch, (((pool, sums), shares), weights))| {
                let blocks = weights.par_chunks_mut(ROWS * stride).zip(sums.par_chunks_mut(ROWS * lanes));
                let blocks = blocks.zip(shares.par_chunks_mut(ROWS * lanes));
                blocks.enumerate().for_each(|(block, ((weights, sums), shares))| {
                    let first = stretch * sharing + block * ROWS;
                    queries.copy_rows_scaled(first, share, shares);
                    for (row, weights) in weights.chunks_exact_mut(stride).enumerate() {
                        pool.selection(block * ROWS + row, n).expand(&mut weights[..pool.width()]);
                    }
                    sums.fill(ZERO);
                    add_weighted_sums(weights, stride, &pool.rows, lanes, sums);
                    for (row, sum) in (first..).zip(sums.chunks_exact_mut(lanes)) {
                        let (item, weight) = ([grads.items[row]], [grads.positives[row]]);
                        add_weighted_rows(queries.table.as_lanes(), &item, &weight, sum);
                    }
                });
            });
        self.pools
            .par_iter_mut()
            .zip(self.queries.as_lanes().par_chunks(sharing * lanes))
            .zip(grads.negatives.values().par_chunks(sharing * stride))
            .for_each(|((pool, shares), weights)| {
                pool.grads.resize(pool.width() * lanes, ZERO);
                pool.grads.par_chunks_mut(POOL_ITEMS * lanes).enumerate().for_each(|(chunk, sums)| {
                    sums.fill(ZERO);
                    let weights = &weights[chunk * POOL_ITEMS..];
                    add_weighted_sums_transposed(weights, stride, shares, lanes, sums);
                });
            });
        self.collect_table_grads(grads.positives, table_grads);
    }
}

impl PooledScorer {
    /// Adds the gradients of all pools and positives to the table. A task has the rows of some items for itself and goes
    /// through pools and positives in order.
    fn collect_table_grads(&self, positive_grads: &[f32], table_grads: &mut Matrix) {
        let lanes = table_grads.lanes();
        let blocks = table_grads.as_lanes_mut().par_chunks_mut(ITEMS * lanes);
        blocks.enumerate().with_min_len(8).for_each(|(block, sums)| {
            let first = (block * ITEMS) as u32;
            for pool in &self.pools {
                for &(item, place) in within(&pool.by_row, first) {
                    if (place as usize) < pool.width() {
                        let grad = &pool.grads[place as usize * lanes..][..lanes];
                        add_to_rows(grad, &[item], &[1.0], first, sums);
                    }
                }
            }
            for &(item, row) in within(&self.positives, first) {
                let weight = [positive_grads[row as usize]];
                add_to_rows(self.queries.row_lanes(row as usize), &[item], &weight, first, sums);
            }
        });
    }
}

/// Of what is in the order of items, the part of one block of [`ITEMS`] items.
fn within(by_item: &[(u32, u32)], first: u32) -> &[(u32, u32)] {
    let from = by_item.partition_point(|&(item, _)| item < first);
    let len = by_item[from..].partition_point(|&(item, _)| item < first + ITEMS as u32);
    &by_item[from..][..len]
}

impl PackedScorer for PooledScorer {
    /// Copies and packs each pool's rows of a table.
    fn pack(&mut self, table: &Matrix) {
        self.pools.par_iter_mut().for_each(|pool| {
            pool.copy_rows(table);
            pool.panels.resize(pool.rows.len(), ZERO);
            let (lanes, block) = (table.lanes(), PACKED * LANES * table.lanes());
            let blocks = pool.rows.par_chunks(block).zip(pool.panels.par_chunks_mut(block));
            blocks.for_each(|(rows, panels)| pack_panels(rows, lanes, panels));
        });
    }

    fn score_one(&mut self, queries: Queries<'_>, out: &mut ScoreRows) {
        let (n, sharing, lanes) = (self.n_negatives, self.sharing, queries.table.lanes());
        let stride = out.stride();
        self.queries.resize(queries.len(), queries.of.cols());
        self.pools
            .par_iter()
            .zip(out.lanes_mut().par_chunks_mut(sharing * stride / LANES))
            .zip(self.queries.as_lanes_mut().par_chunks_mut(sharing * lanes))
            .enumerate()
            .for_each(|(stretch, ((pool, out), rows))| {
                let blocks = out.par_chunks_mut(ROWS * stride / LANES).zip(rows.par_chunks_mut(ROWS * lanes));
                blocks.enumerate().for_each(|(block, (out, rows))| {
                    queries.copy_rows_scaled(stretch * sharing + block * ROWS, 1.0, rows);
                    dots_packed(rows, lanes, &pool.panels, out, stride / LANES);
                    let out: &mut [f32] = bytemuck::cast_slice_mut(out);
                    for (row, scores) in out.chunks_exact_mut(stride).enumerate() {
                        pool.selection(block * ROWS + row, n).compact(scores);
                    }
                });
            });
    }
}
