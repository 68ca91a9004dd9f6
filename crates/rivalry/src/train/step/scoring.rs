//! What a way of scoring must do. [`Picked`](super::picked) reads the rows that were drawn, [`Whole`](super::whole)
//! multiplies with the whole item table, and both come to the same up to rounding. [`Pooled`](super::pooled) multiplies
//! with the few rows that a stretch of the batch shares.

use rayon::prelude::*;
use rivalry_kernels::{LANES, Lane, Matrix, ZERO, dots_with_all};

use super::Batch;

/// Scores the negatives of a batch, and brings gradients of scores back to the tables.
pub(super) trait Scoring: Send {
    /// Draws the negatives of each row.
    fn draw(&mut self, batch: Batch<'_>, n_negatives: usize);

    /// For each row of the batch the dot products of its query with its negatives; with two queries, both.
    fn score(&mut self, first: Queries<'_>, out: &mut [f32], second: Option<(Queries<'_>, &mut [f32])>);

    /// The way back: what the gradients of the scores add up to for each row's query, and, times `share`, for each
    /// row of the table. `query_grads` is overwritten, `table_grads` added to.
    fn spread(
        &mut self,
        queries: Queries<'_>,
        grads: ScoreGrads<'_>,
        share: f32,
        query_grads: &mut Matrix,
        table_grads: &mut Matrix,
    );
}

/// Ways of scoring that multiply with a whole table or pool, laid out for that beforehand.
pub(super) trait ByProducts {
    /// Lays a table out.
    fn turn(&mut self, table: &Matrix);

    /// The scores of one set of queries against the table that was laid out last.
    fn score_one(&mut self, queries: Queries<'_>, out: &mut [f32]);

    /// [`Scoring::score`]: a table that both queries share is laid out once.
    fn score_both(&mut self, first: Queries<'_>, out: &mut [f32], second: Option<(Queries<'_>, &mut [f32])>) {
        self.turn(first.table);
        self.score_one(first, out);
        if let Some((queries, out)) = second {
            if !std::ptr::eq(queries.table, first.table) {
                self.turn(queries.table);
            }
            self.score_one(queries, out);
        }
    }
}

/// For each row of the batch a vector, and the table whose rows it is multiplied with.
#[derive(Clone, Copy)]
pub(super) struct Queries<'a> {
    pub of: &'a Matrix,
    pub ids: &'a [u32],
    pub table: &'a Matrix,
}

impl<'a> Queries<'a> {
    pub fn row(self, row: usize) -> &'a [Lane] {
        self.of.row_lanes(self.ids[row] as usize)
    }

    pub fn len(self) -> usize {
        self.ids.len()
    }

    /// The queries of all rows one after another, each times `scale`.
    pub fn copy_scaled(self, scale: f32, out: &mut Matrix) {
        out.resize(self.len(), self.of.cols());
        let lanes = self.of.lanes();
        let rows = out.as_lanes_mut().par_chunks_mut(lanes).enumerate().with_min_len(64);
        rows.for_each(|(row, out)| {
            for (to, from) in out.iter_mut().zip(self.row(row)) {
                to.0 = from.0.map(|x| x * scale);
            }
        });
    }
}

/// The gradients of a batch's scores.
#[derive(Clone, Copy)]
pub(super) struct ScoreGrads<'a> {
    /// Of the negatives' scores, in the order they were scored.
    pub negatives: &'a [f32],
    /// The positive item of each row.
    pub items: &'a [u32],
    /// Of the positives' scores.
    pub positives: &'a [f32],
}

/// All scores of some queries, and of these the ones each query asks for: `places` holds `n` a query.
pub(super) fn take_scores(
    queries: &[Lane],
    lanes: usize,
    panels: &[Lane],
    places: &[u32],
    n: usize,
    out: &mut [f32],
    all: &mut Vec<Lane>,
) {
    let width = panels.len() / (lanes * LANES);
    all.resize(queries.len() / lanes * width, ZERO);
    dots_with_all(queries, lanes, panels, all);
    let all = bytemuck::cast_slice::<_, f32>(all).chunks_exact(width * LANES);
    for ((out, places), all) in out.chunks_exact_mut(n).zip(places.chunks_exact(n)).zip(all) {
        for (out, &place) in out.iter_mut().zip(places) {
            *out = all[place as usize];
        }
    }
}

/// The way back for one query: each gradient is added to the place its score was taken from.
pub(super) fn spread_row(places: &[u32], grads: &[f32], all: &mut [f32]) {
    for (&place, grad) in places.iter().zip(grads) {
        all[place as usize] += grad;
    }
}
