//! One pair by itself, judged as in a batch of the training.

use std::borrow::Cow;

use rivalry::backbone::Embeddings;
use rivalry::model::Model;
use rivalry::rng::Purpose;
use rivalry::{InputError, Result};

use super::Slate;
use super::diagnose::{Diagnosis, LossDiagnostics};
use super::sample::PairSampler;
use super::slates::slate;

/// The competition of the pairs of a batch, which the temperature of a single pair is calibrated by: the temperature
/// depends on how contested a pair is compared with the others of its batch.
#[derive(Clone, Debug)]
pub struct ReferenceBatch {
    competition: Vec<f64>,
}

impl ReferenceBatch {
    /// Measures the competition in a batch of training pairs. The embeddings are those of the model's scorer.
    ///
    /// # Errors
    /// If the loss does not belong to the softmax family, or a score is not finite.
    pub fn new(model: &Model, embeddings: &Embeddings) -> Result<Self> {
        let gradient = model.config.require_gradient("be inspected")?;
        let losses = LossDiagnostics::new(&gradient.loss)?;
        let sampler = PairSampler::of(model, Cow::Borrowed(embeddings), model.config.seed)?;
        let n = gradient.train.negatives;
        let pairs = sampler.pairs(gradient.train.batch_size);
        let competition = (0..).zip(pairs).map(|(row, pair)| {
            let sampled = sampler.sample(Purpose::InspectedNegatives, (0, row), pair, n)?;
            Ok(losses.competition(&sampled))
        });
        Ok(Self { competition: competition.collect::<Result<_>>()? })
    }

    /// A user and an item with the hardest of a sample of negatives, as a pair of this batch. The user need not have
    /// interacted with the item.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    ///
    /// # Panics
    /// If there is no such user or item.
    pub fn pair(&self, model: &Model, embeddings: &Embeddings, (user, item): (u32, u32)) -> Result<Slate> {
        let gradient = model.config.require_gradient("be inspected")?;
        let losses = LossDiagnostics::new(&gradient.loss)?;
        let sampler = PairSampler::of(model, Cow::Borrowed(embeddings), model.config.seed)?;
        let n = gradient.train.negatives;
        let place = (user as usize, item as usize);
        let mut sampled = sampler.sample(Purpose::InspectedSlates, place, (user, item), n)?;
        // An item that the user has not interacted with may be among the negatives, and does not compete with itself.
        sampled.remove(item);
        if sampled.negatives.is_empty() {
            return Err(InputError::new("no other item is left to compete with this one").into());
        }
        let competition = losses.competition(&sampled);
        let batch: Vec<f64> = self.competition.iter().copied().chain([competition]).collect();
        let multiplier = losses.multipliers(&batch)[self.competition.len()];
        let diagnosis = Diagnosis { sampler: &sampler, losses: &losses, negatives: n, groups: &[] };
        Ok(slate(&diagnosis, &sampled, competition, multiplier))
    }
}
