//! Splits: one file per rule.
//!
//! A rule gets a log, sorted by user and item, and decides which of its pairs are held out. The same rules split the test set
//! off the whole and the validation set off the training set. A new rule is a file here, a line in each match of
//! [`Rule`], and a variant and a line in the list of each setting that offers it ([`SPLITS`], [`VALIDATIONS`]).

mod applied;
mod config;
mod leave_last;
mod popularity;
mod random;
mod rules;
mod time;

pub use applied::AppliedSplit;
pub use config::{SPLITS, Split, SplitEntry, VALIDATIONS, Validation};

pub(crate) use rules::{Cut, Rules};

use rayon::prelude::*;

use super::log::{At, Log};
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
    /// Which pairs of the log, in its order, are held out.
    pub fn hold_out(self, log: &Log, seed: u64, purpose: Purpose) -> Vec<bool> {
        match self {
            Self::Nothing => vec![false; log.table.len()],
            Self::Random { share } => random::hold_out(log, share, seed, purpose),
            Self::LeaveLast { n } => leave_last::hold_out(log, n),
            Self::Time { share } => time::hold_out(log, share),
            Self::Popularity { share } => popularity::hold_out(log, share, seed, purpose),
        }
    }

    /// Whether it asks when pairs occurred.
    pub fn needs_times(self) -> bool {
        matches!(self, Self::LeaveLast { .. } | Self::Time { .. })
    }

    /// Refuses invalid settings, and rules that need timestamps where there are none. `field` and `fraction_key` are the
    /// keys of the rule and its fraction in the section `data.prepare` of a configuration.
    pub fn check(self, field: &str, fraction_key: &str, timed: bool) -> Result<()> {
        let field = format!("data.prepare.{field}");
        match self {
            Self::Random { share } | Self::Time { share } | Self::Popularity { share }
                if !(share > 0.0 && share < 1.0) =>
            {
                let error = InputError::new(format!("{share} is not a fraction above 0 and below 1"));
                Err(error.field(format!("{field}.{fraction_key}")).help("give a number such as 0.2").into())
            }
            Self::LeaveLast { n: 0 } => {
                let error = InputError::new("holding out the last 0 items leaves nothing to evaluate");
                Err(error.field(format!("{field}.n")).help("give 1 or more").into())
            }
            rule if rule.needs_times() && !timed => {
                let error = InputError::new("this split needs timestamps, and no time column was found");
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

/// Marks what `choose` selects of each user's pairs. It is given the user, when the pairs occurred (if that is known) and
/// their numbers, of which it leaves those to hold out.
fn per_user(log: &Log, choose: impl Fn(u32, &[At], &mut Vec<u32>) + Sync) -> Vec<bool> {
    const USERS: usize = 4096;
    let mut held_out = vec![false; log.table.len()];
    let at = log.at.as_deref().unwrap_or_default();
    let (mut blocks, mut rest) = (Vec::new(), &mut held_out[..]);
    for first in (0..log.table.n_users()).step_by(USERS) {
        let users = first as u32..log.table.n_users().min(first + USERS) as u32;
        let size = users.clone().map(|user| log.table.row(user).len()).sum();
        let (block, others) = rest.split_at_mut(size);
        blocks.push((users, block));
        rest = others;
    }
    blocks.into_par_iter().for_each(|(users, mut held_out)| {
        let mut numbers = Vec::new();
        for user in users {
            let row = log.table.row(user);
            let (of_user, others) = held_out.split_at_mut(row.len());
            held_out = others;
            if !of_user.is_empty() {
                numbers.clear();
                numbers.extend(0..of_user.len() as u32);
                choose(log.first_user + user, at.get(row).unwrap_or_default(), &mut numbers);
                numbers.iter().for_each(|&number| of_user[number as usize] = true);
            }
        }
    });
    held_out
}
