//! How a batch's negatives are scored, and gradients of scores brought back to the embeddings.
//!
//! [`GatherScorer`](super::gather) reads the rows that were drawn, [`DenseScorer`](super::dense) multiplies with the
//! whole item table; both give the same result up to rounding. [`PooledScorer`](super::pooled) multiplies with the pool
//! that some rows of the batch share.

use rayon::prelude::*;
use rivalry_kernels::{Exponent, LANES, Lane, Matrix, ZERO, dots_packed};

use super::Batch;
use super::buffers::add_prior;
use super::score_rows::ScoreRows;

/// Scores the negatives of a batch, and brings gradients of scores back to the tables.
pub(super) trait NegativeScorer: Send + Sync {
    /// Draws the negatives of each row of the batch; `draw` fills in those of one row.
    fn draw(&mut self, batch: Batch<'_>, n_negatives: usize, draw: Draw<'_>);

    /// The items of the batch, negatives and positives, ascending and each once; `None` if most of the catalogue is in it.
    fn items(&self) -> Option<&[u32]> {
        None
    }

    /// Numbers the items by their places in [`items`](Self::items), for tables that hold these rows alone; also the given
    /// positives of the batch. Called after a draw that lists its items.
    fn renumber(&mut self, positives: &mut [u32]) {
        let _ = positives;
    }

    /// The distance of two rows in [`ScoreRows`] of so many negatives.
    fn stride(&self, n_negatives: usize) -> usize {
        n_negatives
    }

    /// Calls `fill` with each row of the batch, its negatives in the order in which they are scored, and their values.
    fn for_each_row(&self, values: &mut ScoreRows, fill: Fill<'_>);

    /// Adds the prior of each item to the scores of the negatives.
    fn add_prior(&self, prior: &[f32], scores: &mut ScoreRows) {
        self.for_each_row(scores, &|_, items, scores| add_prior(prior, items, scores));
    }

    /// For each row of the batch the dot products of its query with its negatives; with two queries, both.
    fn score(
        &mut self,
        first: Queries<'_>,
        out: &mut ScoreRows,
        second: Option<(Queries<'_>, &mut ScoreRows)>,
    );

    /// Itself, if it can add up exponentials while it scores.
    fn exp_scorer(&mut self) -> Option<&mut dyn ExpScorer> {
        None
    }

    /// Of one row of the batch the dot products of its query with some of its negatives, given by their places in the order in
    /// which they are scored: the same bits as [`score`](Self::score). Called after the table was scored.
    fn score_places(&self, row: usize, queries: Queries<'_>, places: &mut [u32], out: &mut [f32]);

    /// The backward pass: gradients of each row's query and, times `share`, of each row of the table.
    /// `query_grads` is overwritten, `table_grads` added to. The gradients of the scores are working memory afterwards.
    fn backward(
        &mut self,
        queries: Queries<'_>,
        grads: ScoreGrads<'_>,
        share: f32,
        query_grads: &mut Matrix,
        table_grads: &mut Matrix,
    );
}

/// The bound of the scores that are exponentiated while they are computed: no cosine is larger.
pub(super) const LARGEST_COSINE: f32 = 1.0;

/// Scorers that read the rows of a pair's negatives once for its loss and for the gradient of its query.
pub(super) trait ExpScorer: Send {
    /// [`NegativeScorer::score`] that writes `exp(sharpness · (score - bound))` instead of scores and also adds up, for each row
    /// of the batch, these values into `totals` and the rows of its negatives times them. What is left of the gradient of the
    /// query is a factor: [`ScoreGrads::factors`].
    fn score_exp(
        &mut self,
        queries: Queries<'_>,
        exponent: Exponent,
        out: &mut ScoreRows,
        totals: &mut [f32],
    );
}

/// Fills in or changes the values of a pair's negatives, by its place in the batch.
pub(super) type Fill<'a> = &'a (dyn Fn(usize, &[u32], &mut [f32]) + Sync);

/// Fills in the negatives of a pair, by its place in the batch.
pub type Draw<'a> = &'a (dyn Fn(usize, &mut [u32]) + Sync);

/// Scorers that multiply with a whole table or pool, packed into panels beforehand.
pub(super) trait PackedScorer {
    /// Packs a table.
    fn pack(&mut self, table: &Matrix);

    /// The scores of one set of queries against the table that was packed last.
    fn score_one(&mut self, queries: Queries<'_>, out: &mut ScoreRows);

    /// [`NegativeScorer::score`]: a table that both queries share is packed once.
    fn score_packed(
        &mut self,
        first: Queries<'_>,
        out: &mut ScoreRows,
        second: Option<(Queries<'_>, &mut ScoreRows)>,
    ) {
        self.pack(first.table);
        self.score_one(first, out);
        if let Some((queries, out)) = second {
            if !std::ptr::eq(queries.table, first.table) {
                self.pack(queries.table);
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
        let blocks = out.as_lanes_mut().par_chunks_mut(64 * lanes).enumerate();
        blocks.for_each(|(block, out)| self.copy_rows_scaled(block * 64, scale, out));
    }

    /// The queries of the rows from `first` on, as many as fit in `out`, each times `scale`.
    pub fn copy_rows_scaled(self, first: usize, scale: f32, out: &mut [Lane]) {
        for (row, out) in (first..).zip(out.chunks_exact_mut(self.of.lanes())) {
            for (to, from) in out.iter_mut().zip(self.row(row)) {
                to.0 = from.0.map(|x| x * scale);
            }
        }
    }
}

/// The gradients of a batch's scores.
pub(super) struct ScoreGrads<'a> {
    /// Of the negatives' scores, in the order they were scored.
    pub negatives: &'a mut ScoreRows,
    /// The positive item of each row.
    pub items: &'a [u32],
    /// Of the positives' scores.
    pub positives: &'a [f32],
    /// After [`ExpScorer::score_exp`], what each row's values have been multiplied with since then to become the gradients;
    /// otherwise empty.
    pub factors: &'a [f32],
}

/// [`NegativeScorer::for_each_row`] where the negatives of all rows stand one after another.
pub(super) fn for_each_row_of(negatives: &[u32], values: &mut ScoreRows, fill: Fill<'_>) {
    let n = values.n();
    let rows = values.values_mut().par_chunks_mut(n).zip(negatives.par_chunks(n)).enumerate();
    rows.for_each(|(row, (values, negatives))| fill(row, negatives, values));
}

/// A table packed into panels.
#[derive(Clone, Copy)]
pub(super) struct Panels<'a> {
    pub panels: &'a [Lane],
    /// Lanes of a row of the table.
    pub lanes: usize,
}

impl Panels<'_> {
    /// Computes all scores of some queries and selects `n` of each query, at `places`. `all` is working memory.
    pub fn select_scores(
        self,
        queries: &[Lane],
        places: &[u32],
        n: usize,
        out: &mut [f32],
        all: &mut Vec<Lane>,
    ) {
        let Self { panels, lanes } = self;
        let width = panels.len() / (lanes * LANES);
        all.resize(queries.len() / lanes * width, ZERO);
        dots_packed(queries, lanes, panels, all, width);
        let all = bytemuck::cast_slice::<_, f32>(all).chunks_exact(width * LANES);
        for ((out, places), all) in out.chunks_exact_mut(n).zip(places.chunks_exact(n)).zip(all) {
            for (out, &place) in out.iter_mut().zip(places) {
                *out = all[place as usize];
            }
        }
    }
}

/// The backward pass of [`Panels::select_scores`] for one query: each gradient is added to the place of its score.
pub(super) fn scatter_row(places: &[u32], grads: &[f32], all: &mut [f32]) {
    for (&place, grad) in places.iter().zip(grads) {
        all[place as usize] += grad;
    }
}
