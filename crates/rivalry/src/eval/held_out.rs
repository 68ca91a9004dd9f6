//! The held-out items of an evaluation, and the items that may not be recommended in it.

use std::ops::Range;

use super::{EvalOptions, EvalPart, Mask};
use crate::data::{Dataset, Interactions};
use crate::memory::MemoryLimit;
use crate::{InputError, Result, ranker};

/// What is to be found, what is masked, and for whom.
pub(super) struct HeldOut<'a> {
    /// The held-out interactions.
    pub truth: &'a Interactions,
    /// The users with held-out items.
    pub users: Vec<u32>,
    /// The user that the scorer's users start with.
    pub first_user: u32,
    /// The interactions that are masked.
    pub masked: Vec<&'a Interactions>,
    /// How much memory the lists may take.
    pub memory: MemoryLimit,
}

impl<'a> HeldOut<'a> {
    pub fn of(dataset: &'a Dataset, part: EvalPart, options: &EvalOptions) -> Result<Self> {
        let Dataset { train, valid, test, .. } = dataset;
        let (truth, masked) = match (part, options.mask) {
            (EvalPart::Valid, _) => (valid, vec![train]),
            (EvalPart::Test, Mask::Train) => (test, vec![train]),
            (EvalPart::Test, Mask::TrainValid) => (test, vec![train, valid]),
        };
        let has_some = |&user: &u32| truth.count_of(user) > 0;
        let users: Vec<u32> = (0..truth.n_users() as u32).filter(has_some).collect();
        if users.is_empty() {
            return Err(nothing_held_out(dataset, part).into());
        }
        Ok(Self { truth, users, first_user: 0, masked, memory: options.memory })
    }

    /// The same for these users alone; those of the scorer start with `first_user`.
    pub fn of_users(&self, range: Range<u32>, first_user: u32) -> Self {
        let [from, to] = [range.start, range.end].map(|end| self.users.partition_point(|user| *user < end));
        let (users, masked) = (self.users[from..to].to_vec(), self.masked.clone());
        Self { users, first_user, masked, ..*self }
    }

    /// The masks of the lists of these users.
    pub fn masks<'b>(&'b self, users: &'b [u32]) -> impl Iterator<Item = ranker::Mask<'b>> {
        self.masked.iter().map(move |table| ranker::Mask::OfUser(table, users))
    }
}

fn nothing_held_out(dataset: &Dataset, part: EvalPart) -> InputError {
    let (name, help) = match part {
        EvalPart::Valid => ("validation", "evaluate the test set, or train a run with a validation set"),
        EvalPart::Test => ("test", "train a run with a test set, for example by a random split"),
    };
    InputError::new(format!("the data '{}' have no {name} set, so there is nothing to measure", dataset.name))
        .help(help)
}
