//! NegativeScorer against the whole table at once, for catalogues not much larger than a row's sample.
//!
//! All scores of a few rows are one matrix product, from which each row takes those of its negatives; on the way
//! back the gradients of a row are laid out over the catalogue, and two more products make the tables' gradients.
//! The arithmetic wasted on items that were not drawn is less than what picking rows would cost.

use rayon::prelude::*;
use rivalry_kernels::{
    LANES, Lane, Matrix, ZERO, add_weighted_sums, add_weighted_sums_transposed, chained_dots, pack_panels,
};

use super::Batch;
use super::score_rows::ScoreRows;
use super::scorer::{
    Draw, Fill, NegativeScorer, PackedScorer, Panels, Queries, ScoreGrads, for_each_row_of, scatter_row,
};

/// Rows of the batch a task works on at a time.
const ROWS: usize = 48;

/// Items a task collects the gradients of at a time.
const ITEMS: usize = 48;

/// How many times larger than the sample a catalogue may be. Measured at 1000 negatives: with 1500 items this way is the
/// faster one, with 2000 both take the same, and with 3000 picking takes two thirds of the time.
const MOST: usize = 2;

/// Whether multiplying with all items is the cheaper way.
pub(super) fn pays(n_items: usize, n_negatives: usize) -> bool {
    n_items <= MOST * n_negatives
}

#[derive(Default)]
pub(super) struct DenseScorer {
    n_negatives: usize,
    negatives: Vec<u32>,
    panels: Vec<Lane>,
    /// For each row of the batch the gradients of all items' scores, padded to whole lanes.
    spread: Matrix,
    /// The queries of all rows one after another.
    queries: Matrix,
}

impl NegativeScorer for DenseScorer {
    fn draw(&mut self, batch: Batch<'_>, n_negatives: usize, draw: Draw<'_>) {
        self.n_negatives = n_negatives;
        self.negatives.resize(batch.users.len() * n_negatives, 0);
        self.negatives
            .par_chunks_mut(n_negatives)
            .enumerate()
            .with_min_len(ROWS)
            .for_each(|(row, drawn)| draw(row, drawn));
    }

    fn for_each_row(&self, values: &mut ScoreRows, fill: Fill<'_>) {
        for_each_row_of(&self.negatives, values, fill);
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
        let negatives = &self.negatives[row * self.n_negatives..];
        places.iter_mut().for_each(|place| *place = negatives[*place as usize]);
        chained_dots(queries.row(row), queries.table.as_lanes(), places, out);
    }

    fn backward(
        &mut self,
        queries: Queries<'_>,
        grads: ScoreGrads<'_>,
        share: f32,
        query_grads: &mut Matrix,
        table_grads: &mut Matrix,
    ) {
        let (n, n_items) = (self.n_negatives, queries.table.rows());
        let (table, lanes) = (queries.table.as_lanes(), queries.table.lanes());
        self.spread.resize(queries.len(), n_items);
        queries.copy_scaled(share, &mut self.queries);
        let width = self.spread.lanes();
        self.spread
            .as_lanes_mut()
            .par_chunks_mut(ROWS * width)
            .zip(query_grads.as_lanes_mut().par_chunks_mut(ROWS * lanes))
            .zip(self.negatives.par_chunks(ROWS * n))
            .enumerate()
            .for_each(|(chunk, ((spread, sums), negatives))| {
                let first = chunk * ROWS;
                spread.fill(ZERO);
                let spread: &mut [f32] = bytemuck::cast_slice_mut(spread);
                for (r, all) in spread.chunks_exact_mut(width * LANES).enumerate() {
                    let row = first + r;
                    scatter_row(&negatives[r * n..][..n], grads.negatives.row(row), all);
                    all[grads.items[row] as usize] += grads.positives[row];
                }
                sums.fill(ZERO);
                add_weighted_sums(spread, width * LANES, table, lanes, sums);
            });
        let (spread, shares) = (bytemuck::cast_slice(self.spread.as_lanes()), self.queries.as_lanes());
        table_grads.as_lanes_mut().par_chunks_mut(ITEMS * lanes).enumerate().for_each(|(chunk, sums)| {
            add_weighted_sums_transposed(&spread[chunk * ITEMS..], width * LANES, shares, lanes, sums);
        });
    }
}

impl PackedScorer for DenseScorer {
    fn pack(&mut self, table: &Matrix) {
        let (lanes, width) = (table.lanes(), table.lanes() * LANES);
        self.panels.resize(table.rows().div_ceil(LANES) * width, ZERO);
        let sixteens = table.as_lanes().par_chunks(LANES * lanes);
        sixteens
            .zip(self.panels.par_chunks_mut(width))
            .with_min_len(8)
            .for_each(|(rows, panel)| pack_panels(rows, lanes, panel));
    }

    fn score_one(&mut self, queries: Queries<'_>, out: &mut ScoreRows) {
        let (n, lanes) = (self.n_negatives, queries.table.lanes());
        queries.copy_scaled(1.0, &mut self.queries);
        let panels = &self.panels;
        let chunks =
            self.queries.as_lanes().par_chunks(ROWS * lanes).zip(self.negatives.par_chunks(ROWS * n));
        out.values_mut().par_chunks_mut(ROWS * n).zip(chunks).for_each_init(
            Vec::new,
            |all, (out, (queries, negatives))| {
                Panels { panels, lanes }.select_scores(queries, negatives, n, out, all);
            },
        );
    }
}
