//! Negative samplers: which items a training pair is compared with.
//!
//! A sampler is built with the training set in hand. It draws item ids and knows the probability of each; it knows
//! nothing of scores. A new sampler is one file with an [`Entry`], and one line in [`SAMPLERS`].

mod alias;
mod hard;
mod popularity;
mod shared;
mod uniform;

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Result;
use crate::data::{Dataset, IdMap, Interactions};
use crate::params::{self, Choice, Params};

/// All samplers, in the order they are listed to the user.
pub static SAMPLERS: &[Entry] = &[uniform::UNIFORM, shared::SHARED, popularity::POPULARITY, hard::HARD];

/// A sampler on the list.
pub type Entry = params::Entry<Build>;

/// A chosen sampler with its parameters: `[sampler]` of a config.
pub type SamplerConfig = Choice<Build>;

/// Builds a sampler for a training set and a number of negatives.
///
/// # Errors
/// If some user of the training set can't be given that many negatives; the error names one.
pub type Build = for<'a> fn(&Params, TrainingSet<'a>, usize) -> Result<Box<dyn Sampler + 'a>>;

/// What a sampler knows of the data.
#[derive(Clone, Copy, Debug)]
pub struct TrainingSet<'a> {
    /// The training interactions.
    pub interactions: &'a Interactions,
    /// The original ids of the users, for errors.
    pub users: &'a IdMap,
}

impl<'a> From<&'a Dataset> for TrainingSet<'a> {
    fn from(dataset: &'a Dataset) -> Self {
        Self { interactions: &dataset.train, users: &dataset.users }
    }
}

/// Draws negatives.
pub trait Sampler: Send + Sync {
    /// Fills `out` with negatives for a user. What is drawn depends on the generator alone.
    fn draw(&self, user: u32, rng: &mut Xoshiro256PlusPlus, out: &mut [u32]);

    /// The natural logarithm of the probability with which each of these items is drawn for the user: the `log q` of
    /// the log-q correction.
    fn log_probs(&self, user: u32, items: &[u32], out: &mut [f32]);

    /// How many pairs of a batch share one pool of candidates, if they do. The pool is then drawn once for all of them,
    /// from all items, and each pair leaves out the items of its user.
    fn pool(&self) -> Option<usize> {
        None
    }

    /// How many candidates to draw for a pair that is trained with so many negatives. If it is more, the candidates with
    /// the highest scores become the negatives.
    fn candidates(&self, negatives: usize) -> usize {
        negatives
    }
}

impl SamplerConfig {
    /// The sampler for this training set and number of negatives.
    ///
    /// # Errors
    /// If some user can't be given that many negatives.
    pub fn build<'a>(
        &self,
        train: impl Into<TrainingSet<'a>>,
        negatives: usize,
    ) -> Result<Box<dyn Sampler + 'a>> {
        (self.entry().build)(self.params(), train.into(), negatives)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Parts;

    /// A data set without validation and test sets, whose users and items are called by their numbers.
    pub fn dataset(n_users: usize, n_items: usize, pairs: impl IntoIterator<Item = (u32, u32)>) -> Dataset {
        let ids = |n: usize| (0..n).map(|id| id.to_string()).collect();
        let train = Interactions::from_pairs(n_users, n_items, pairs);
        let empty = || Interactions::empty(n_users, n_items);
        let parts = Parts { train, valid: empty(), test: empty() };
        Dataset::new("test", ids(n_users), ids(n_items), parts, vec![]).unwrap()
    }

    #[test]
    fn every_sampler_gives_probabilities_that_sum_to_one() {
        let dataset = dataset(2, 9, [(0, 1), (0, 4), (1, 0), (1, 2), (1, 3)]);
        for entry in SAMPLERS {
            let config = SamplerConfig::from_table(
                "sampler",
                SAMPLERS,
                &format!("type = '{}'", entry.name).parse().unwrap(),
            );
            let sampler = config.unwrap().build(&dataset, 5).unwrap();
            let free = [0, 2, 3, 5, 6, 7, 8];
            let mut log_probs = [0.0; 7];
            sampler.log_probs(0, &free, &mut log_probs);
            let sum: f32 = log_probs.iter().map(|log_prob| log_prob.exp()).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{}: {sum}", entry.name);
        }
    }
}
