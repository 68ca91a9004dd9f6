//! Which of the interactions that a model knows of a user are left out of the user's list.

use std::str::FromStr;

use super::Mask;
use crate::data::Interactions;
use crate::model::Model;
use crate::{InputError, Result};

/// The interactions of a user that are not recommended again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Known {
    /// None: every item is a candidate.
    Nothing,
    /// Training items.
    Train,
    /// Training and validation items, as when the test set is evaluated: test items can be found.
    TrainValid,
    /// Training, validation and test items: all that is known of the user.
    #[default]
    All,
}

impl FromStr for Known {
    type Err = InputError;

    fn from_str(name: &str) -> Result<Self, InputError> {
        match name {
            "train" => Ok(Self::Train),
            "train+valid" => Ok(Self::TrainValid),
            "all" => Ok(Self::All),
            _ => {
                Err(InputError::new(format!("can't exclude '{name}'")).help("known: train, train+valid, all"))
            }
        }
    }
}

impl Known {
    /// The masks of the lists of these users.
    pub(super) fn masks<'a>(self, model: &'a Model, users: &'a [u32]) -> Result<Vec<Mask<'a>>> {
        let tables: Vec<&Interactions> = match self {
            Self::Nothing => vec![],
            Self::Train => vec![&model.train],
            Self::TrainValid => vec![&model.train, valid(model)?],
            Self::All => vec![&model.train, &model.held_out],
        };
        Ok(tables.into_iter().map(|table| Mask::OfUser(table, users)).collect())
    }
}

fn valid(model: &Model) -> Result<&Interactions> {
    model.valid.as_ref().ok_or_else(|| {
        let what = "the model is of a release that doesn't tell validation from test items";
        InputError::new(what).help("exclude 'train' or 'all', or train the model again").into()
    })
}
