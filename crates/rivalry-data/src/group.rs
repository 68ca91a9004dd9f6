//! Sorts records by user and item and merges those of the same pair, on all threads.
//!
//! Records are first distributed to buckets by their user: each chunk of records counts, then writes to places of its own.
//! A bucket then fits into a cache, where it is sorted. The result depends on the records alone.

use std::ops::AddAssign;

use rayon::prelude::*;

use crate::interactions::split_slice_mut;

/// About how many buckets there are.
const BUCKETS: usize = 256;
/// How many records a task distributes.
const CHUNK: usize = 1 << 18;

/// A record on its way into the table: its pair and, where that matters, where it came from.
pub(crate) trait Entry: Copy + Default + Ord + Send + Sync {
    /// Whether it knows the position of its record.
    const POSITIONED: bool;

    fn new(pair: u64, position: usize) -> Self;

    /// User and item, in the high and the low half.
    fn pair(self) -> u64;
}

/// A pair alone.
impl Entry for u64 {
    const POSITIONED: bool = false;

    fn new(pair: u64, _: usize) -> Self {
        pair
    }

    fn pair(self) -> u64 {
        self
    }
}

/// A pair and the position of its record. Sorted, records of the same pair are in the order of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Positioned {
    pair: u64,
    pub position: usize,
}

impl Entry for Positioned {
    const POSITIONED: bool = true;

    fn new(pair: u64, position: usize) -> Self {
        Self { pair, position }
    }

    fn pair(self) -> u64 {
        self.pair
    }
}

/// How many records were merged into others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Removed {
    /// Into one of the same part.
    pub duplicates: usize,
    /// From the validation set, into one of an earlier part.
    pub valid: usize,
    /// From the test set, into one of an earlier part.
    pub test: usize,
}

impl AddAssign for Removed {
    fn add_assign(&mut self, other: Self) {
        self.duplicates += other.duplicates;
        self.valid += other.valid;
        self.test += other.test;
    }
}

/// Records as a table with one row for each user.
pub(crate) struct Grouped<E> {
    /// Where each user's items begin; one more for the end.
    pub offsets: Vec<usize>,
    /// Ascending for each user.
    pub items: Vec<u32>,
    /// What was kept of each pair, in the same order; empty for pairs alone.
    pub entries: Vec<E>,
    pub removed: Removed,
}

/// Distributes the records by user, sorts them, and merges each run of the same pair to what `merge` returns for it.
///
/// `keep` says which records count, by their positions. All users are below `n_users`.
pub(crate) fn group<E: Entry>(
    (user, item): (Vec<u32>, Vec<u32>),
    n_users: usize,
    keep: impl Fn(usize) -> bool + Sync,
    merge: impl Fn(&[E]) -> (E, Removed) + Sync,
) -> Grouped<E> {
    let shift = (n_users / BUCKETS).checked_ilog2().map_or(0, |log| log + 1);
    let (mut entries, sizes) = distribute::<E>((&user, &item), n_users.div_ceil(1 << shift), shift, keep);
    drop((user, item));
    let merged: Vec<(usize, Removed)> = split_slice_mut(&mut entries, &sizes)
        .into_par_iter()
        .map(|bucket| {
            bucket.sort_unstable();
            merge_runs(bucket, &merge)
        })
        .collect();
    let kept: Vec<usize> = merged.iter().map(|(kept, _)| *kept).collect();
    let mut removed = Removed::default();
    merged.into_iter().for_each(|(_, of_bucket)| removed += of_bucket);

    let mut items = vec![0; kept.iter().sum()];
    let mut offsets = vec![0; n_users + 1];
    split_slice_mut(&mut items, &kept)
        .into_par_iter()
        .zip(split_slice_mut(&mut entries, &sizes))
        .zip(offsets[1..].par_chunks_mut(1 << shift))
        .for_each(|((items, entries), counts)| {
            for (item, entry) in items.iter_mut().zip(entries) {
                *item = entry.pair() as u32;
                counts[(entry.pair() >> 32) as usize & ((1 << shift) - 1)] += 1;
            }
        });
    for user in 0..n_users {
        offsets[user + 1] += offsets[user];
    }
    if E::POSITIONED {
        let (mut from, mut to) = (0, 0);
        for (&size, &kept) in sizes.iter().zip(&kept) {
            entries.copy_within(from..from + kept, to);
            (from, to) = (from + size, to + kept);
        }
        entries.truncate(to);
    } else {
        entries = Vec::new();
    }
    Grouped { offsets, items, entries, removed }
}

/// The records that count, bucket by bucket, in order within each, and how many a bucket has.
fn distribute<E: Entry>(
    (user, item): (&[u32], &[u32]),
    n_buckets: usize,
    shift: u32,
    keep: impl Fn(usize) -> bool + Sync,
) -> (Vec<E>, Vec<usize>) {
    let counts: Vec<Vec<usize>> = user
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(chunk, users)| {
            let mut counts = vec![0; n_buckets];
            for (position, &user) in (chunk * CHUNK..).zip(users) {
                counts[(user >> shift) as usize] += usize::from(keep(position));
            }
            counts
        })
        .collect();
    let sizes: Vec<usize> =
        (0..n_buckets).map(|bucket| counts.iter().map(|counts| counts[bucket]).sum()).collect();
    let mut entries = vec![E::default(); sizes.iter().sum()];
    // For each chunk, its places in every bucket.
    let mut places: Vec<Vec<std::slice::IterMut<'_, E>>> =
        counts.iter().map(|_| Vec::with_capacity(n_buckets)).collect();
    let mut rest = &mut entries[..];
    for bucket in 0..n_buckets {
        for (places, counts) in places.iter_mut().zip(&counts) {
            let (own, others) = rest.split_at_mut(counts[bucket]);
            places.push(own.iter_mut());
            rest = others;
        }
    }
    let columns = user.par_chunks(CHUNK).zip(item.par_chunks(CHUNK));
    places.into_par_iter().zip(columns).enumerate().for_each(|(chunk, (mut places, (users, items)))| {
        for (position, (&user, &item)) in (chunk * CHUNK..).zip(users.iter().zip(items)) {
            if keep(position)
                && let Some(place) = places[(user >> shift) as usize].next()
            {
                *place = E::new(u64::from(user) << 32 | u64::from(item), position);
            }
        }
    });
    (entries, sizes)
}

/// Merges runs of the same pair; what is kept is moved to the front. Returns how many are kept.
fn merge_runs<E: Entry>(entries: &mut [E], merge: impl Fn(&[E]) -> (E, Removed)) -> (usize, Removed) {
    let (mut start, mut kept, mut removed) = (0, 0, Removed::default());
    while start < entries.len() {
        let pair = entries[start].pair();
        let run = entries[start + 1..].iter().take_while(|entry| entry.pair() == pair).count() + 1;
        entries[kept] = match run {
            1 => entries[start],
            run => {
                let (merged, of_run) = merge(&entries[start..start + run]);
                removed += of_run;
                merged
            }
        };
        (start, kept) = (start + run, kept + 1);
    }
    (kept, removed)
}
