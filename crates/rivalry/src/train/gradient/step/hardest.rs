//! Of each row's candidates the ones with the highest scores, which become its negatives.

use rayon::prelude::*;

use super::buffers::Buffers;
use crate::loss::ROWS;

/// The hardest candidates of all rows; empty where every candidate is a negative.
#[derive(Default)]
pub(super) struct Hardest {
    /// Where each stands among the candidates of its row, ascending.
    places: Vec<u32>,
    pub scores: Vec<f32>,
    pub features: Vec<f32>,
    pub log_probs: Vec<f32>,
    pub grads: Vec<f32>,
}

impl Hardest {
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// How many there are in each of `rows` rows.
    pub fn n(&self, rows: usize) -> usize {
        self.places.len() / rows
    }

    /// The scores of those in one of `rows` rows.
    pub fn scores_of(&self, row: usize, rows: usize) -> &[f32] {
        let n = self.n(rows);
        &self.scores[row * n..][..n]
    }
}

impl Buffers {
    /// Keeps the `n` highest-scored candidates of each row; of equal scores the one drawn first.
    pub fn keep_hardest(&mut self, n: usize) {
        let rows = self.positives.len();
        let (candidates, stride) = (self.scores.n(), self.scores.stride());
        let Self { scores, features, log_probs, hardest, .. } = self;
        hardest.places.resize(rows * n, 0);
        hardest.grads.resize(rows * n, 0.0);
        let of_rows = hardest.places.par_chunks_mut(n).zip(scores.values().par_chunks(stride));
        of_rows.with_min_len(ROWS).for_each_init(Vec::new, |order, (places, scores)| {
            order.clear();
            order.extend(0..candidates as u32);
            let harder =
                |a: &u32, b: &u32| scores[*b as usize].total_cmp(&scores[*a as usize]).then_with(|| a.cmp(b));
            if n < candidates {
                order.select_nth_unstable_by(n, harder);
            }
            places.copy_from_slice(&order[..n]);
            places.sort_unstable();
        });
        let places = &hardest.places;
        for (from, to) in [
            (&*scores, &mut hardest.scores),
            (&*features, &mut hardest.features),
            (&*log_probs, &mut hardest.log_probs),
        ] {
            if !from.is_empty() {
                to.resize(rows * n, 0.0);
                let from = from.values().par_chunks(stride);
                let taken = to.par_chunks_mut(n).zip(places.par_chunks(n)).zip(from);
                taken.for_each(|((to, places), from)| {
                    to.iter_mut().zip(places).for_each(|(to, &place)| *to = from[place as usize]);
                });
            }
        }
    }

    /// Brings the gradients of the hardest back to all candidates; those of the others are zero.
    pub fn scatter_hardest(&mut self) {
        if self.hardest.is_empty() {
            return;
        }
        let rows = self.positives.len();
        let (n, stride) = (self.hardest.n(rows), self.score_grads.stride());
        let Hardest { places, grads, .. } = &self.hardest;
        let to = self.score_grads.values_mut().par_chunks_mut(stride);
        let of_rows = to.zip(places.par_chunks(n).zip(grads.par_chunks(n)));
        of_rows.for_each(|(to, (places, grads))| {
            to.fill(0.0);
            places.iter().zip(grads).for_each(|(&place, grad)| to[place as usize] = *grad);
        });
    }
}
