//! From when on pairs are held out by a split by time, found without sorting all times.

use super::pairs::LogBlocks;
use super::{Entry, Progress};
use crate::error::Result;
use crate::log::At;
use crate::split::{Cut, Rule, Rules, floor_share};

/// How many classes times are counted in.
const CLASSES: usize = 1 << 16;

/// The moments that the rules ask for.
pub(super) fn find_cut<E: Entry>(
    blocks: &LogBlocks<'_, E>,
    rules: Rules,
    progress: Progress<'_>,
) -> Result<Cut> {
    let mut cut = Cut::default();
    let in_memory = blocks.budget.run / size_of::<u128>();
    if let Some(Rule::Time { share }) = rules.test {
        cut.test = select(share, in_memory, &mut |f| {
            let mut done = 0;
            blocks.each(&mut |log| {
                progress("splitting by time", done, blocks.kept.pairs as u64);
                done += log.table.len() as u64;
                log.at.iter().flatten().for_each(|at| f(*at));
                Ok(())
            })
        })?;
    }
    if let Some(Rule::Time { share }) = rules.valid {
        cut.valid = select(share, in_memory, &mut |f| {
            let mut done = 0;
            blocks.each(&mut |mut log| {
                progress("splitting by time", done, blocks.kept.pairs as u64);
                done += log.table.len() as u64;
                rules.split_off_test(&mut log, Some(cut));
                log.at.iter().flatten().for_each(|at| f(*at));
                Ok(())
            })
        })?;
    }
    Ok(cut)
}

/// Goes through all moments, in any order, and calls a function with each.
type Each<'a> = &'a mut dyn FnMut(&mut dyn FnMut(At)) -> Result<()>;

/// The earliest of the latest moments that are this share of all; `None` if none are. No two are the same. At most
/// `in_memory` of them are in memory at a time.
fn select(share: f64, in_memory: usize, each: Each<'_>) -> Result<Option<At>> {
    let (mut low, mut high, mut len) = (u128::MAX, u128::MIN, 0);
    each(&mut |at| {
        let key = key(at);
        (low, high, len) = (low.min(key), high.max(key), len + 1);
    })?;
    // How many of those within the bounds are held out.
    let mut count = floor_share(share, len);
    if count == 0 {
        return Ok(None);
    }
    while len > in_memory.max(1) {
        let shift = (u128::BITS - (high - low).leading_zeros()).saturating_sub(CLASSES.ilog2());
        let mut sizes = vec![0_usize; CLASSES];
        each(&mut |at| {
            let key = key(at);
            if (low..=high).contains(&key) {
                sizes[((key - low) >> shift) as usize] += 1;
            }
        })?;
        let mut class = CLASSES - 1;
        while count > sizes[class] {
            count -= sizes[class];
            class -= 1;
        }
        low += (class as u128) << shift;
        high = high.min(low + ((1 << shift) - 1));
        len = sizes[class];
    }
    let mut keys = Vec::with_capacity(len);
    each(&mut |at| {
        let key = key(at);
        if (low..=high).contains(&key) {
            keys.push(key);
        }
    })?;
    let (_, &mut key, _) = keys.select_nth_unstable(len - count);
    Ok(Some(at(key)))
}

/// A number in the order of moments.
fn key((time, position): At) -> u128 {
    u128::from(time.cast_unsigned() ^ 1 << 63) << 64 | position as u128
}

fn at(key: u128) -> At {
    ((((key >> 64) as u64) ^ 1 << 63).cast_signed(), key as u64 as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_moment_is_that_of_sorting_all(
            times in prop::collection::vec(prop_oneof![0..4_i64, any::<i64>(), -1000..1000_i64], 1..200),
            share in 0.001..0.999_f64,
            in_memory in 0..20_usize,
        ) {
            let all: Vec<At> = times.into_iter().zip(0..).collect();
            let mut sorted = all.clone();
            sorted.sort_unstable();
            let count = floor_share(share, all.len());
            let expected = (count > 0).then(|| sorted[all.len() - count]);
            let found = select(share, in_memory, &mut |f| {
                all.iter().for_each(|at| f(*at));
                Ok(())
            });
            prop_assert_eq!(found.unwrap(), expected);
        }
    }
}
