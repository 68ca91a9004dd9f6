//! The slates of a batch: of each row the highest-scored negatives, with their similarity to the positive.

use rayon::prelude::*;
use rivalry_kernels::Real;

use super::buffers::Buffers;
use super::scorer::{NegativeScorer, Queries};
use crate::loss::{BatchSlates, ROWS};

/// The slates of all rows; empty where the loss looks at all negatives.
#[derive(Default)]
pub(super) struct Slates {
    n: usize,
    scores: Vec<f32>,
    similarities: Vec<f32>,
}

impl Slates {
    pub fn get(&self) -> Option<BatchSlates<'_, f32>> {
        let Self { n, scores, similarities: features } = self;
        (*n > 0).then_some(BatchSlates { n: *n, scores, features })
    }
}

impl Buffers {
    /// Finds the slates of so many negatives. `positives` are the queries by which negatives are similar to the positive.
    pub fn find_slates(&mut self, n: usize, scorer: &dyn NegativeScorer, positives: Queries<'_>) {
        let Self { scores, slates, .. } = self;
        let (rows, n) = (positives.len(), n.min(scores.n()));
        slates.n = n;
        slates.scores.resize(rows * n, 0.0);
        slates.similarities.resize(rows * n, 0.0);
        let of_rows = slates.scores.par_chunks_mut(n).zip(slates.similarities.par_chunks_mut(n)).enumerate();
        of_rows.with_min_len(ROWS).for_each_init(
            || (vec![0.0; 3 * scores.n()], vec![0; n]),
            |(buffer, places), (row, (slate, similarities))| {
                let top = f32::top_k(scores.row(row), n, buffer);
                // Scores that are not numbers are not found. The loss is then not finite, either.
                let found = top.iter().copied().chain(std::iter::repeat([f32::NAN, 0.0]));
                for ((score, place), [f, at]) in slate.iter_mut().zip(&mut *places).zip(found) {
                    (*score, *place) = (f, at as u32);
                }
                scorer.score_places(row, positives, places, similarities);
            },
        );
    }
}
