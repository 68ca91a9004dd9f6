//! Tables that several processes count together, each its own blocks.

use std::ops::Range;

use super::pairs_file::{Counts, PairsFile};
use super::{Files, Peers};
use crate::{Parts, Result};

/// Whether all processes say the same, and something.
pub(super) fn is_common(peers: &dyn Peers, mine: &[u8]) -> bool {
    let all = peers.all_gather(mine);
    !mine.is_empty() && all.iter().all(|theirs| theirs == mine)
}

/// The counts of the tables of a folder whose blocks all processes know to be the same; `None` if any of them can't read its
/// part.
pub(super) fn count(files: &Files, size: (usize, usize), peers: &dyn Peers) -> Option<Parts<Counts>> {
    let mine = |file: &Option<PairsFile>| -> Result<_> {
        file.as_ref()
            .map(|file| file.count_blocks(file.blocks_of_rank(peers.rank(), peers.size())))
            .transpose()
    };
    let Parts { train, valid, test } = files;
    let counted = mine(train).and_then(|train| Ok(Parts { train, valid: mine(valid)?, test: mine(test)? }));
    let is_read = is_common(peers, if counted.is_ok() { &b"read"[..] } else { &[] });
    // All have read their parts, or none goes on.
    let counted = counted.ok().filter(|_| is_read)?;
    let combine = |counted: Option<(Vec<u32>, Vec<u32>)>| match counted {
        None => Counts::none(size),
        Some((of_users, of_items)) => {
            let of_users = peers.all_gather(&to_bytes(&of_users));
            let of_items = sum(peers, &of_items);
            // The processes count users one after another.
            Counts::new(of_users.iter().flat_map(|bytes| from_bytes(bytes)), of_items)
        }
    };
    Some(counted.map(combine))
}

/// The sum of the counts of all processes: each adds up its part of them, and gives it to the others.
fn sum(peers: &dyn Peers, counts: &[u32]) -> Vec<u32> {
    let part = |rank: usize| -> Range<usize> {
        rank * counts.len() / peers.size()..(rank + 1) * counts.len() / peers.size()
    };
    let parts: Vec<Vec<u8>> = (0..peers.size()).map(|rank| to_bytes(&counts[part(rank)])).collect();
    let mut sums = vec![0; part(peers.rank()).len()];
    for theirs in peers.all_to_all(parts) {
        sums.iter_mut().zip(from_bytes(&theirs)).for_each(|(sum, count)| *sum += count);
    }
    peers.all_gather(&to_bytes(&sums)).iter().flat_map(|bytes| from_bytes(bytes)).collect()
}

fn to_bytes(counts: &[u32]) -> Vec<u8> {
    counts.iter().flat_map(|count| count.to_le_bytes()).collect()
}

fn from_bytes(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes))
}
