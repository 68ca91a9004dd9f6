//! The share of a sweep that one of several processes begins with.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

/// The share `index` of `count`, such as the number of an array job and the number of its tasks.
///
/// It decides the order of the trials, not which are run: a process begins with its own, then takes those that no other
/// process has begun. So a sweep is whole even if some of the processes never start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: NonZeroUsize,
}

impl Shard {
    /// Puts the trials of this share first. Every `count`-th trial belongs to it, so that each share has some of every group.
    pub(super) fn own_first<T>(self, trials: &mut Vec<T>) {
        let own = |at: usize| at % self.count == self.index;
        let mut numbered: Vec<(usize, T)> = trials.drain(..).enumerate().collect();
        numbered.sort_by_key(|&(at, _)| !own(at));
        trials.extend(numbered.into_iter().map(|(_, trial)| trial));
    }
}

/// `I/N`, where I goes from 0 to N-1 or from 1 to N: schedulers do either.
impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("found '{text}', expected I/N, such as 0/8: share I of N");
        let (index, count) = text.split_once('/').ok_or_else(expected)?;
        let index: usize = index.trim().parse().map_err(|_| expected())?;
        let count: NonZeroUsize = count.trim().parse().map_err(|_| expected())?;
        if index > count.get() {
            return Err(format!("found share {index} of {count}, expected at most {count}"));
        }
        Ok(Self { index: index % count, count })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_trials_come_first_and_none_is_lost() {
        let order = |shard: &str| {
            let mut trials: Vec<usize> = (0..7).collect();
            shard.parse::<Shard>().unwrap().own_first(&mut trials);
            trials
        };
        assert_eq!(order("0/3"), [0, 3, 6, 1, 2, 4, 5]);
        assert_eq!(order("1/3"), [1, 4, 0, 2, 3, 5, 6]);
        assert_eq!(order("3/3"), order("0/3"), "counted from one");
        assert_eq!(order("9/20"), [0, 1, 2, 3, 4, 5, 6], "more shares than trials");
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for text in ["", "1", "1/0", "-1/2", "3/2", "a/b", "1/2/3", "/"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
