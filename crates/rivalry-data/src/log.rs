//! The interactions of all parts in one table, on which filters and splits work.

use crate::error::{InputError, Result};
use crate::group::{Grouped, Positioned, Removed, group};
use crate::{Interactions, Part, RawData, RawParts, Records, count};

/// The timestamp of an interaction and its position in the file, which breaks ties.
pub(crate) type At = (i64, usize);

/// Interactions sorted by user and item, without duplicates.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    pub table: Interactions,
    /// The number of users before the first of the table, if it holds some users only.
    pub first_user: u32,
    /// The part of each pair, in the order of the table; `None` if all are in the training set.
    pub parts: Option<Vec<Part>>,
    /// When each pair occurred, in the order of the table; `None` if nothing asks for it.
    pub at: Option<Vec<At>>,
}

impl Log {
    /// Takes out the pairs that are held out.
    pub fn split_off(&mut self, held_out: &[bool]) -> Interactions {
        fn retain<T>(column: &mut Option<Vec<T>>, held_out: &[bool]) {
            let mut held_out = held_out.iter();
            column.iter_mut().for_each(|column| column.retain(|_| held_out.next() == Some(&false)));
        }
        let [kept, taken] = self.table.partition(held_out);
        self.table = kept;
        retain(&mut self.parts, held_out);
        retain(&mut self.at, held_out);
        taken
    }

    /// Which pairs are in this part.
    pub fn in_part(&self, part: Part) -> Vec<bool> {
        match &self.parts {
            Some(parts) => parts.iter().map(|of_pair| *of_pair == part).collect(),
            None => vec![part == Part::Train; self.table.len()],
        }
    }

    /// Whether a pair is in this part.
    pub fn any_in(&self, part: Part) -> bool {
        self.parts.as_ref().is_some_and(|parts| parts.contains(&part))
    }
}

/// What has to be known of interactions besides their pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// Which part they are in; otherwise all parts are joined.
    pub parts: bool,
    /// When they occurred.
    pub times: bool,
}

/// The records of all parts in one list, checked.
pub(crate) struct Collected {
    records: Records,
    /// Where each part begins.
    starts: Vec<(usize, Part)>,
    n_users: usize,
    n_items: usize,
    min_rating: Option<f32>,
    /// Whether every record has a timestamp.
    pub timed: bool,
}

impl Collected {
    /// Collects all records; of these, the ones rated at least `min_rating` count.
    pub fn of(raw: &mut RawData, min_rating: Option<f32>) -> Result<Self> {
        check_min_rating(min_rating)?;
        let parts = match std::mem::replace(&mut raw.parts, RawParts::Whole(Records::default())) {
            RawParts::Whole(records) => vec![(Part::Train, records)],
            RawParts::Given { train, valid, test } => {
                let valid = valid.map(|records| (Part::Valid, records));
                [(Part::Train, train)].into_iter().chain(valid).chain([(Part::Test, test)]).collect()
            }
        };
        let timed = parts.iter().all(|(_, records)| records.time.is_some());
        let (mut joined, mut starts) = (None, Vec::new());
        for (part, records) in parts {
            check(&records, raw)?;
            min_rating.map_or(Ok(()), |_| check_ratings(&records))?;
            starts.push((joined.as_ref().map_or(0, |joined: &Records| joined.user.len()), part));
            match &mut joined {
                None => joined = Some(records),
                Some(joined) => join(joined, records),
            }
        }
        let (records, n_users, n_items) = (joined.unwrap_or_default(), raw.users.len(), raw.items.len());
        Ok(Self { records, starts, n_users, n_items, min_rating, timed })
    }

    /// The number of records read.
    pub fn read(&self) -> usize {
        self.records.user.len()
    }

    /// What the records are rated, where nothing is chosen by it.
    pub fn ignored_ratings(&self) -> Option<&[f32]> {
        self.records.rating.as_deref().filter(|_| self.min_rating.is_none())
    }

    /// The number of records that count.
    pub fn rated(&self) -> usize {
        match self.min_rating.zip(self.records.rating.as_ref()) {
            Some((min, ratings)) => ratings.iter().filter(|rating| **rating >= min).count(),
            None => self.read(),
        }
    }

    /// Sorts by user and item and merges duplicate pairs: the first part and, within it, the latest time are kept.
    pub fn merge(self, needs: Needs, notes: &mut Vec<String>) -> Log {
        let Self { records, starts, n_users, n_items, min_rating, .. } = self;
        let Records { user, item, rating, time } = records;
        let rating = min_rating.zip(rating);
        let keep = |position: usize| rating.as_ref().is_none_or(|(min, ratings)| ratings[position] >= *min);
        if !needs.parts && !needs.times {
            drop(time);
            let merge = |run: &[u64]| (run[0], Removed { duplicates: run.len() - 1, ..Removed::default() });
            let Grouped { offsets, items, removed, .. } = group((user, item), n_users, keep, merge);
            note_removed(removed, notes);
            let table = Interactions::from_rows(n_items, offsets, items);
            return Log { table, first_user: 0, parts: None, at: None };
        }
        let starts = if needs.parts { starts } else { vec![(0, Part::Train)] };
        let part = |entry: &Positioned| {
            let of = starts.iter().rev().find(|(start, _)| *start <= entry.position);
            of.map_or(Part::Train, |(_, part)| *part)
        };
        let time = time.filter(|_| needs.times);
        let at = |entry: Positioned| (time.as_ref().map_or(0, |time| time[entry.position]), entry.position);
        let merge = |run: &[Positioned]| {
            let first = part(&run[0]);
            let mut removed = Removed::default();
            let mut kept = run[0];
            for entry in &run[1..] {
                match part(entry) {
                    part if part == first => {
                        removed.duplicates += 1;
                        kept = if at(*entry) > at(kept) { *entry } else { kept };
                    }
                    Part::Test => removed.test += 1,
                    _ => removed.valid += 1,
                }
            }
            (kept, removed)
        };
        let Grouped { offsets, items, entries, removed } = group((user, item), n_users, keep, merge);
        note_removed(removed, notes);
        let parts = needs.parts.then(|| entries.iter().map(part).collect());
        // Of the same size as the entries, whose memory is used again.
        let at = needs.times.then(|| entries.into_iter().map(at).collect());
        Log { table: Interactions::from_rows(n_items, offsets, items), first_user: 0, parts, at }
    }
}

/// Appends the records of another part. A column that either doesn't have is dropped.
fn join(records: &mut Records, other: Records) {
    fn append<T>(column: &mut Option<Vec<T>>, other: Option<Vec<T>>) {
        match (&mut *column, other) {
            (Some(column), Some(other)) => column.extend(other),
            _ => *column = None,
        }
    }
    records.user.extend(other.user);
    records.item.extend(other.item);
    append(&mut records.rating, other.rating);
    append(&mut records.time, other.time);
}

/// Refuses a threshold that is no number.
pub(crate) fn check_min_rating(min_rating: Option<f32>) -> Result<()> {
    match min_rating {
        Some(rating) if rating.is_nan() => Err(InputError::new("NaN is not a rating")
            .field("data.prepare.min_rating")
            .help("give a number")
            .into()),
        _ => Ok(()),
    }
}

/// The error for records without ratings where a minimum is asked for.
pub(crate) fn no_ratings() -> InputError {
    InputError::new("the records have no ratings")
        .field("data.prepare.min_rating")
        .help("omit `data.prepare.min_rating`, or name the column of the ratings with `data.read.rating`")
}

pub(crate) fn note_removed(removed: Removed, notes: &mut Vec<String>) {
    if removed.duplicates > 0 {
        notes.push(format!("merged {}", count(removed.duplicates, "duplicate pair")));
    }
    for (overlap, part, earlier) in
        [(removed.valid, Part::Valid, "the training"), (removed.test, Part::Test, "an earlier")]
    {
        if overlap > 0 {
            let (pairs, part) = (count(overlap, "pair"), part.name());
            notes.push(format!("removed {pairs} from the {part} set: already in {earlier} set"));
        }
    }
}

/// Checks what readers guarantee, for callers that construct a `RawData` themselves.
fn check(records: &Records, raw: &RawData) -> Result<()> {
    let n = records.user.len();
    let columns = [
        Some(records.item.len()),
        records.rating.as_ref().map(Vec::len),
        records.time.as_ref().map(Vec::len),
    ];
    if columns.into_iter().flatten().any(|len| len != n) {
        return Err(InputError::new("the columns of the records differ in length").into());
    }
    for (what, column, ids) in [("user", &records.user, &raw.users), ("item", &records.item, &raw.items)] {
        if let Some(r) = column.iter().position(|&id| id as usize >= ids.len()) {
            let message =
                format!("record {} refers to {what} {}, but there are only {}", r + 1, column[r], ids.len());
            return Err(InputError::new(message).field(what).into());
        }
    }
    Ok(())
}

fn check_ratings(records: &Records) -> Result<()> {
    let ratings = records.rating.as_deref().ok_or_else(no_ratings)?;
    match ratings.iter().position(|rating| rating.is_nan()) {
        None => Ok(()),
        Some(r) => Err(InputError::new(format!("record {} has no rating", r + 1))
            .field("data.prepare.min_rating")
            .help("omit `data.prepare.min_rating`, or give every record a rating")
            .into()),
    }
}
