//! Splits: one file per rule.
//!
//! A rule gets interactions sorted by user and item and decides which are held out. The same rules split the test set
//! off the whole and the validation set off the training set. A new rule is a file here, a line in each match of
//! [`Rule`], and a variant and a line in the list of each setting that offers it ([`SPLITS`], [`VALIDATIONS`]).

mod config;
mod leave_last;
mod popularity;
mod random;
mod time;

pub use config::{SPLITS, Split, SplitEntry, VALIDATIONS, Validation};

use super::log::Interaction;
use crate::error::{InputError, Result};
use crate::rng::Purpose;

/// How held-out interactions are chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    /// Nothing is held out.
    Nothing,
    Random {
        share: f64,
    },
    LeaveLast {
        n: u32,
    },
    Time {
        share: f64,
    },
    Popularity {
        share: f64,
    },
}

impl Rule {
    /// Which of the interactions, sorted by user and item, are held out.
    pub fn hold_out(self, interactions: &[Interaction], seed: u64, purpose: Purpose) -> Vec<bool> {
        match self {
            Self::Nothing => vec![false; interactions.len()],
            Self::Random { share } => random::hold_out(interactions, share, seed, purpose),
            Self::LeaveLast { n } => leave_last::hold_out(interactions, n),
            Self::Time { share } => time::hold_out(interactions, share),
            Self::Popularity { share } => popularity::hold_out(interactions, share, seed, purpose),
        }
    }

    /// Refuses invalid settings, and rules that need timestamps where there are none. `field` and `fraction_key` are the
    /// keys of the rule and its fraction in the section `data.prepare` of a configuration.
    pub fn check(self, field: &str, fraction_key: &str, timed: bool) -> Result<()> {
        let field = format!("data.prepare.{field}");
        match self {
            Self::Random { share } | Self::Time { share } | Self::Popularity { share }
                if !(share > 0.0 && share < 1.0) =>
            {
                let error = InputError::new(format!("{share} is not a fraction between 0 and 1"));
                Err(error.field(format!("{field}.{fraction_key}")).help("give a number such as 0.2").into())
            }
            Self::LeaveLast { n: 0 } => {
                let error = InputError::new("holding out the last 0 items leaves nothing to evaluate");
                Err(error.field(format!("{field}.n")).help("give 1 or more").into())
            }
            Self::LeaveLast { .. } | Self::Time { .. } if !timed => {
                let error = InputError::new("this split needs timestamps, but not every record has one");
                let help = format!(
                    "name the column of the timestamps with `data.read.time`, or use `{field}.type = \"random\"`"
                );
                Err(error.field(format!("{field}.type")).help(help).into())
            }
            _ => Ok(()),
        }
    }
}

/// `⌊share·n⌋`, computed the same way by all rules: one f64 product, rounded down.
pub(crate) fn floor_share(share: f64, n: usize) -> usize {
    (share * n as f64) as usize
}

/// Marks what `choose` selects of each user's interactions; it returns indices into the slice it is given.
fn per_user(interactions: &[Interaction], mut choose: impl FnMut(&[Interaction]) -> Vec<usize>) -> Vec<bool> {
    let mut held_out = vec![false; interactions.len()];
    let mut start = 0;
    for of_user in interactions.chunk_by(|a, b| a.user == b.user) {
        choose(of_user).into_iter().for_each(|index| held_out[start + index] = true);
        start += of_user.len();
    }
    held_out
}
