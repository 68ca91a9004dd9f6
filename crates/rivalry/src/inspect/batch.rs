//! Training pairs and their negatives, drawn as a training draws them, with their scores in `f64`.

use rivalry_kernels::Matrix;

use crate::data::Interactions;
use crate::eval::unit_rows;
use crate::loss::Row;
use crate::rng::{Purpose, shuffle, stream};
use crate::run::SavedModel;
use crate::sample::{self, Sampler};
use crate::train::{Model, Score};
use crate::{Error, Result};

/// A trained model and what it was trained on.
pub(super) struct World<'a> {
    pub saved: &'a SavedModel,
    model: Model,
    /// The items by their direction alone, where the score is not a cosine.
    directions: Option<Matrix>,
    sampler: Box<dyn Sampler>,
    seed: u64,
}

/// A training pair with a sample of negatives.
pub(super) struct Sampled {
    pub user: u32,
    pub item: u32,
    pub score: f64,
    pub negatives: Vec<u32>,
    pub scores: Vec<f64>,
    pub similarities: Vec<f64>,
}

impl Sampled {
    /// The pair as a loss sees it.
    pub fn row(&self) -> Row<'_, f64> {
        Row { user: self.user, positive: self.score, negatives: &self.scores, companions: &self.similarities }
    }

    /// The places of the negatives, the highest score first; of equal scores the one drawn first.
    pub fn ranking(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.scores.len()).collect();
        places.sort_by(|&a, &b| self.scores[b].total_cmp(&self.scores[a]));
        places
    }
}

impl<'a> World<'a> {
    pub fn new(saved: &'a SavedModel, seed: u64) -> Result<Self> {
        let model = saved.model()?;
        let directions = match saved.config.model.score {
            Score::Cosine => None,
            Score::Dot => Some(unit_rows(&model.scored().items)),
        };
        Ok(Self { saved, model, directions, sampler: sample::build(&saved.config.sampler)?, seed })
    }

    fn train(&self) -> &Interactions {
        &self.saved.train
    }

    /// That many training pairs, or all if there are fewer, in random order.
    pub fn pairs(&self, n: usize) -> Vec<(u32, u32)> {
        let mut pairs: Vec<(u32, u32)> = self.train().pairs().collect();
        shuffle(&mut stream(self.seed, Purpose::InspectedPairs, &[]), &mut pairs);
        pairs.truncate(n);
        pairs
    }

    /// Negatives for the pair in that row of a batch, and the scores of all.
    pub fn sample(
        &self,
        purpose: Purpose,
        (batch, row): (usize, usize),
        (user, item): (u32, u32),
        n: usize,
    ) -> Result<Sampled> {
        let stretch = self.sampler.sharing().unwrap_or(1);
        let mut rng = stream(self.seed, purpose, &[batch as u64, (row / stretch) as u64]);
        let mut negatives = vec![0; n];
        self.sampler.draw(self.train(), user, &mut rng, &mut negatives);
        if self.sampler.sharing().is_some() {
            // What is drawn for many may hold what this user has: that is left out, and more drawn instead.
            let mut drawn = std::mem::replace(&mut negatives, Vec::with_capacity(n));
            loop {
                negatives.extend(drawn.iter().filter(|&&item| !self.train().contains(user, item)));
                if negatives.len() >= n {
                    break;
                }
                self.sampler.draw(self.train(), user, &mut rng, &mut drawn);
            }
            negatives.truncate(n);
        }
        self.score(user, item, negatives)
    }

    fn score(&self, user: u32, item: u32, negatives: Vec<u32>) -> Result<Sampled> {
        let scored = self.model.scored();
        let of_user = scored.users.row(user as usize);
        let directions = self.directions.as_ref().unwrap_or(&scored.items);
        let of_item = directions.row(item as usize);
        let score = |item: u32| dot(of_user, scored.items.row(item as usize));
        let similarity = |other: u32| dot(of_item, directions.row(other as usize));
        let sampled = Sampled {
            user,
            item,
            score: score(item),
            scores: negatives.iter().map(|&item| score(item)).collect(),
            similarities: negatives.iter().map(|&item| similarity(item)).collect(),
            negatives,
        };
        let finite = sampled.score.is_finite() && sampled.scores.iter().all(|score| score.is_finite());
        if finite { Ok(sampled) } else { Err(Error::NanScore { user }) }
    }
}

/// The dot product in `f64`. Eight sums side by side, so that no addition waits for the one before it.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut sums = [0.0; 8];
    for (a, b) in a.chunks(8).zip(b.chunks(8)) {
        for ((sum, &x), &y) in sums.iter_mut().zip(a).zip(b) {
            *sum += f64::from(x) * f64::from(y);
        }
    }
    sums.iter().sum()
}
