//! Training pairs with negatives, sampled as in training, and their scores in `f64`.

use std::borrow::Cow;

use rivalry::backbone::{Embeddings, Score};
use rivalry::data::Interactions;
use rivalry::loss::Row;
use rivalry::model::Model;
use rivalry::rng::{Purpose, shuffle, stream};
use rivalry::sampler::Sampler;
use rivalry::scorer::unit_rows;
use rivalry::{Error, InputError, Matrix, Result};

/// Samples training pairs and negatives, and scores them with a trained model.
pub(super) struct PairSampler<'a> {
    pub model: &'a Model,
    scored: Cow<'a, Embeddings>,
    /// The normalised item embeddings, if the score is not the cosine alone.
    directions: Option<Matrix>,
    sampler: Box<dyn Sampler + 'a>,
    /// Whether the loss uses the log-probabilities of negatives.
    log_probs: bool,
    seed: u64,
}

/// A training pair with a sample of negatives.
pub(super) struct SampledPair {
    pub user: u32,
    pub item: u32,
    pub score: f64,
    pub negatives: Vec<u32>,
    pub scores: Vec<f64>,
    pub similarities: Vec<f64>,
    /// The log-probabilities of the negatives, if the loss uses them.
    pub log_probs: Vec<f64>,
}

impl SampledPair {
    /// The pair as the input of a loss.
    pub fn row(&self) -> Row<'_, f64> {
        Row {
            user: self.user,
            positive: self.score,
            negatives: &self.scores,
            features: &self.similarities,
            log_probs: &self.log_probs,
        }
    }

    /// Takes an item out of the negatives.
    pub fn remove(&mut self, item: u32) {
        let kept: Vec<usize> =
            (0..self.negatives.len()).filter(|&place| self.negatives[place] != item).collect();
        for values in [&mut self.scores, &mut self.similarities, &mut self.log_probs] {
            if !values.is_empty() {
                *values = kept.iter().map(|&place| values[place]).collect();
            }
        }
        self.negatives = kept.iter().map(|&place| self.negatives[place]).collect();
    }

    /// The indices of the negatives by descending score; ties in the order of sampling.
    pub fn ranking(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.scores.len()).collect();
        places.sort_by(|&a, &b| self.scores[b].total_cmp(&self.scores[a]));
        places
    }
}

impl<'a> PairSampler<'a> {
    pub fn new(model: &'a Model, seed: u64) -> Result<Self> {
        let scorer = model.scorer()?;
        let scored = scorer.embeddings().ok_or_else(|| InputError::new("the model has no embeddings"))?;
        Self::of(model, Cow::Owned(scored.clone()), seed)
    }

    /// A sampler that scores with these embeddings, those of the model's scorer.
    pub fn of(model: &'a Model, scored: Cow<'a, Embeddings>, seed: u64) -> Result<Self> {
        let gradient = model.config.require_gradient("be inspected")?;
        let settings = &model.config.model;
        // With a popularity prior, the scored vectors have a number more.
        let own = Matrix::from_fn(scored.items.rows(), settings.dim().unwrap_or_default(), |row, c| {
            scored.items.row(row)[c]
        });
        let has_prior = own.cols() < scored.dim();
        let directions = (has_prior || settings.score() == Some(Score::Dot)).then(|| unit_rows(&own));
        let sampler = gradient.sampler.build(model, gradient.train.negatives)?;
        let log_probs = gradient.loss.build().uses_log_probs();
        Ok(Self { model, scored, directions, sampler, log_probs, seed })
    }

    fn train(&self) -> &Interactions {
        &self.model.train
    }

    /// At most `n` training pairs in random order.
    pub fn pairs(&self, n: usize) -> Vec<(u32, u32)> {
        let mut pairs: Vec<(u32, u32)> = self.train().pairs().collect();
        shuffle(&mut stream(self.seed, Purpose::InspectedPairs, &[]), &mut pairs);
        pairs.truncate(n);
        pairs
    }

    /// Samples and scores `n` negatives for the pair in that row of a batch.
    pub fn sample(
        &self,
        purpose: Purpose,
        (batch, row): (usize, usize),
        (user, item): (u32, u32),
        n: usize,
    ) -> Result<SampledPair> {
        let pool = self.sampler.pool().unwrap_or(1);
        let mut rng = stream(self.seed, purpose, &[batch as u64, (row / pool) as u64]);
        let mut negatives = vec![0; n];
        self.sampler.draw(user, &mut rng, &mut negatives);
        if self.sampler.pool().is_some() {
            // A shared pool may contain training items of this user: they are replaced by further draws.
            let mut drawn = std::mem::replace(&mut negatives, Vec::with_capacity(n));
            loop {
                negatives.extend(drawn.iter().filter(|&&item| !self.train().contains(user, item)));
                if negatives.len() >= n {
                    break;
                }
                self.sampler.draw(user, &mut rng, &mut drawn);
            }
            negatives.truncate(n);
        }
        self.score(user, item, negatives)
    }

    fn log_probs(&self, user: u32, negatives: &[u32]) -> Vec<f64> {
        let mut log_probs = vec![0.0; if self.log_probs { negatives.len() } else { 0 }];
        self.sampler.log_probs(user, &negatives[..log_probs.len()], &mut log_probs);
        log_probs.into_iter().map(f64::from).collect()
    }

    fn score(&self, user: u32, item: u32, negatives: Vec<u32>) -> Result<SampledPair> {
        let scored = &self.scored;
        let of_user = scored.users.row(user as usize);
        let directions = self.directions.as_ref().unwrap_or(&scored.items);
        let of_item = directions.row(item as usize);
        let score = |item: u32| dot(of_user, scored.items.row(item as usize));
        let similarity = |other: u32| dot(of_item, directions.row(other as usize));
        let sampled = SampledPair {
            user,
            item,
            score: score(item),
            scores: negatives.iter().map(|&item| score(item)).collect(),
            similarities: negatives.iter().map(|&item| similarity(item)).collect(),
            log_probs: self.log_probs(user, &negatives),
            negatives,
        };
        let finite = sampled.score.is_finite() && sampled.scores.iter().all(|score| score.is_finite());
        if finite { Ok(sampled) } else { Err(Error::NanScore { user }) }
    }
}

/// The dot product in `f64`, with eight independent sums for instruction-level parallelism.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut sums = [0.0; 8];
    for (a, b) in a.chunks(8).zip(b.chunks(8)) {
        for ((sum, &x), &y) in sums.iter_mut().zip(a).zip(b) {
            *sum += f64::from(x) * f64::from(y);
        }
    }
    sums.iter().sum()
}
