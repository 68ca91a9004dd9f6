//! NegativeScorer against a pool of negatives that a stretch of the batch shares.
//!
//! The pool's rows are copied next to each other; from there on it is [`DenseScorer`](super::dense) on a small table. A row
//! takes the first of the pool that its user has no training interaction with, and starts over where these are too few.

use rayon::prelude::*;
use rivalry_kernels::{
    LANES, Lane, Matrix, ZERO, add_to_rows, add_weighted_rows, add_weighted_sums,
    add_weighted_sums_transposed, pack_panels,
};

use super::Batch;
use super::scorer::{Draw, NegativeScorer, PackedScorer, Panels, Queries, ScoreGrads, scatter_row};
use crate::sampler::Sampler;

pub(super) struct PooledScorer {
    /// Rows of the batch that share a pool.
    sharing: usize,
    n_negatives: usize,
    pools: Vec<Pool>,
    /// Where each row's negatives stand in its pool.
    places: Vec<u32>,
    queries: Matrix,
}

/// One stretch's negatives and the memory it works in.
#[derive(Clone, Default)]
struct Pool {
    items: Vec<u32>,
    /// The same with their places, in the order of the items.
    by_item: Vec<(u32, u32)>,
    /// The places of what the user at hand has, in order.
    seen: Vec<u32>,
    rows: Vec<Lane>,
    panels: Vec<Lane>,
    /// For the stretch's rows the scores, later their gradients, of the whole pool.
    spread: Vec<Lane>,
    grads: Vec<Lane>,
}

impl PooledScorer {
    pub fn new(sharing: usize) -> Self {
        Self { sharing, n_negatives: 0, pools: Vec::new(), places: Vec::new(), queries: Matrix::default() }
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
        self.places.resize(batch.users.len() * n, 0);
        self.pools.resize(batch.users.len().div_ceil(sharing), Pool::default());
        let stretches = self.pools.par_iter_mut().zip(self.places.par_chunks_mut(sharing * n)).enumerate();
        stretches.for_each(|(stretch, (pool, places))| {
            let first = stretch * sharing;
            pool.items.resize(pool_size(n), 0);
            draw(first, &mut pool.items);
            pool.by_item.clear();
            pool.by_item.extend(pool.items.iter().copied().zip(0..));
            pool.by_item.sort_unstable();
            for (row, places) in places.chunks_exact_mut(n).enumerate() {
                pool.find(batch.train.items_of(batch.users[first + row]));
                let free = |place: &u32| pool.seen.binary_search(place).is_err();
                let mut taken = 0;
                for place in (0..pool.items.len() as u32).filter(free).take(n) {
                    places[taken] = place;
                    taken += 1;
                }
                // Too few: those there are once more. None at all: the pool as it is, for this one step.
                for again in taken..n {
                    places[again] = if taken == 0 { again as u32 } else { places[again - taken] };
                }
            }
        });
    }

    fn log_probs(&self, batch: Batch<'_>, sampler: &dyn Sampler, out: &mut [f32]) {
        let rows = out.par_chunks_mut(self.n_negatives).zip(self.places.par_chunks(self.n_negatives));
        rows.enumerate().for_each_init(Vec::new, |items, (row, (out, places))| {
            let pool = &self.pools[row / self.sharing];
            items.clear();
            items.extend(places.iter().map(|&place| pool.items[place as usize]));
            sampler.log_probs(batch.users[row], items, out);
        });
    }

    fn score(&mut self, first: Queries<'_>, out: &mut [f32], second: Option<(Queries<'_>, &mut [f32])>) {
        self.score_packed(first, out, second);
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
        queries.copy_scaled(share, &mut self.queries);
        self.pools
            .par_iter_mut()
            .zip(query_grads.as_lanes_mut().par_chunks_mut(sharing * lanes))
            .zip(self.queries.as_lanes().par_chunks(sharing * lanes))
            .zip(self.places.par_chunks(sharing * n))
            .zip(grads.negatives.par_chunks(sharing * n))
            .enumerate()
            .for_each(|(stretch, ((((pool, sums), shares), places), weights))| {
                pool.copy_rows(queries.table);
                let width = pool.items.len();
                pool.spread.resize(sums.len() / lanes * width / LANES, ZERO);
                pool.spread.fill(ZERO);
                let spread: &mut [f32] = bytemuck::cast_slice_mut(&mut pool.spread);
                let rows = places.chunks_exact(n).zip(weights.chunks_exact(n));
                for (all, (places, weights)) in spread.chunks_exact_mut(width).zip(rows) {
                    scatter_row(places, weights, all);
                }
                sums.fill(ZERO);
                add_weighted_sums(spread, width, &pool.rows, lanes, sums);
                for (r, sum) in sums.chunks_exact_mut(lanes).enumerate() {
                    let row = stretch * sharing + r;
                    let (item, weight) = ([grads.items[row]], [grads.positives[row]]);
                    add_weighted_rows(queries.table.as_lanes(), &item, &weight, sum);
                }
                pool.grads.resize(width * lanes, ZERO);
                pool.grads.fill(ZERO);
                add_weighted_sums_transposed(spread, width, shares, lanes, &mut pool.grads);
            });
        // One after another: an item may stand in several pools.
        for pool in &self.pools {
            for (&item, grad) in pool.items.iter().zip(pool.grads.chunks_exact(lanes)) {
                add_to_rows(grad, &[item], &[1.0], 0, table_grads.as_lanes_mut());
            }
        }
        for (row, &item) in grads.items.iter().enumerate() {
            let weight = [grads.positives[row]];
            add_to_rows(self.queries.row_lanes(row), &[item], &weight, 0, table_grads.as_lanes_mut());
        }
    }
}

impl PackedScorer for PooledScorer {
    /// Copies and turns each pool's rows of a table.
    fn pack(&mut self, table: &Matrix) {
        self.pools.par_iter_mut().for_each(|pool| {
            pool.copy_rows(table);
            pool.panels.resize(pool.rows.len(), ZERO);
            pack_panels(&pool.rows, table.lanes(), &mut pool.panels);
        });
    }

    fn score_one(&mut self, queries: Queries<'_>, out: &mut [f32]) {
        let (n, sharing, lanes) = (self.n_negatives, self.sharing, queries.table.lanes());
        queries.copy_scaled(1.0, &mut self.queries);
        self.pools
            .par_iter_mut()
            .zip(out.par_chunks_mut(sharing * n))
            .zip(self.queries.as_lanes().par_chunks(sharing * lanes))
            .zip(self.places.par_chunks(sharing * n))
            .for_each(|(((pool, out), queries), places)| {
                let panels = Panels { panels: &pool.panels, lanes };
                panels.select_scores(queries, places, n, out, &mut pool.spread);
            });
    }
}

impl Pool {
    /// Finds which places hold one of these items.
    fn find(&mut self, items: &[u32]) {
        self.seen.clear();
        for &item in items {
            let first = self.by_item.partition_point(|&(other, _)| other < item);
            let same = self.by_item[first..].iter().take_while(|&&(other, _)| other == item);
            self.seen.extend(same.map(|&(_, place)| place));
        }
        self.seen.sort_unstable();
    }

    fn copy_rows(&mut self, table: &Matrix) {
        self.rows.clear();
        for &item in &self.items {
            self.rows.extend_from_slice(table.row_lanes(item as usize));
        }
    }
}
