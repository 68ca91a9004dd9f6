//! Which pairs are held out: one file a rule.
//!
//! A rule looks at pairs sorted by user and item and says of each whether it is held out. The same rules cut the
//! test part from the whole and the validation part from the training part. A new rule is a file here, a line in
//! each place of [`Rule`], and a variant and a line in the list of whatever configuration may ask for it.

mod config;
mod leave_last;
mod popularity;
mod random;
mod time;

pub use config::{Choice, SPLITS, Split, VALIDATIONS, Validation};

use super::events::Event;
use crate::error::{InputError, Result};

/// A way to choose the pairs that are held out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    Random { share: f64 },
    LeaveLast { n: u32 },
    Time { share: f64 },
    Popularity { share: f64 },
}

/// What a random choice is for: the test and the validation draw of one seed must not follow each other.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    Test = 1,
    Valid = 2,
}

impl Rule {
    /// Of pairs sorted by user and item, which are held out.
    pub fn hold_out(self, events: &[Event], seed: u64, purpose: Purpose) -> Vec<bool> {
        match self {
            Self::Random { share } => random::hold_out(events, share, seed, purpose),
            Self::LeaveLast { n } => leave_last::hold_out(events, n),
            Self::Time { share } => time::hold_out(events, share),
            Self::Popularity { share } => popularity::hold_out(events, share, seed, purpose),
        }
    }

    /// Refuses settings that mean nothing and rules that need times where there are none. `field` and `share_key`
    /// are the names the user knows the rule and its share by.
    pub fn check(self, field: &str, share_key: &str, timed: bool) -> Result<()> {
        match self {
            Self::Random { share } | Self::Time { share } | Self::Popularity { share }
                if !(share > 0.0 && share < 1.0) =>
            {
                let error = InputError::new(format!("{share} is not a share between 0 and 1"));
                Err(error.field(format!("{field}.{share_key}")).help("give a number such as 0.2").into())
            }
            Self::LeaveLast { n: 0 } => {
                let error = InputError::new("leaving out the last 0 items leaves nothing out");
                Err(error.field(format!("{field}.n")).help("give 1 or more").into())
            }
            Self::LeaveLast { .. } | Self::Time { .. } if !timed => {
                let error = InputError::new("this split goes by time, but not every record has a time");
                let help = format!("name the column that holds the times, or use {field}.type = \"random\"");
                Err(error.field(field).help(help).into())
            }
            _ => Ok(()),
        }
    }
}

/// `⌊share·n⌋` as everywhere in these rules: one f64 product, rounded down.
pub(super) fn floor_share(share: f64, n: usize) -> usize {
    (share * n as f64) as usize
}

/// Marks what `choose` picks of each user's pairs; it gets the user's pairs and returns places among them.
fn per_user(events: &[Event], mut choose: impl FnMut(&[Event]) -> Vec<usize>) -> Vec<bool> {
    let mut held_out = vec![false; events.len()];
    let mut start = 0;
    for of_user in events.chunk_by(|a, b| a.user == b.user) {
        choose(of_user).into_iter().for_each(|place| held_out[start + place] = true);
        start += of_user.len();
    }
    held_out
}
