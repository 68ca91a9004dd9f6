//! The interactions of all parts in one list, on which filters and splits work.

use super::{Part, RawData, RawParts, Records};
use crate::error::{InputError, Result};

/// One interaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interaction {
    pub user: u32,
    pub item: u32,
    pub part: Part,
    /// The timestamp and the position in the file, which breaks ties.
    pub at: (i64, usize),
}

impl Interaction {
    pub fn pair(&self) -> (u32, u32) {
        (self.user, self.item)
    }
}

/// All interactions of a source.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    pub interactions: Vec<Interaction>,
    /// The number of records read.
    pub read: usize,
    /// Whether every record has a timestamp.
    pub timed: bool,
}

impl Log {
    /// Collects all records rated at least `min_rating`.
    pub fn collect(raw: &RawData, min_rating: Option<f32>) -> Result<Self> {
        let parts = match &raw.parts {
            RawParts::Whole(records) => vec![(Part::Train, records)],
            RawParts::Given { train, valid, test } => {
                let valid = valid.iter().map(|records| (Part::Valid, records));
                [(Part::Train, train)].into_iter().chain(valid).chain([(Part::Test, test)]).collect()
            }
        };
        if min_rating.is_some_and(f32::is_nan) {
            return Err(InputError::new("NaN is not a rating")
                .field("data.prepare.min_rating")
                .help("give a number")
                .into());
        }
        let read = parts.iter().map(|(_, records)| records.user.len()).sum();
        let timed = parts.iter().all(|(_, records)| records.time.is_some());
        let mut log = Self { interactions: Vec::with_capacity(read), read, timed };
        let mut start = 0;
        for (part, records) in parts {
            check(records, raw)?;
            let ratings = min_rating.map(|min| ratings(records).map(|list| (min, list))).transpose()?;
            log.interactions.extend((0..records.user.len()).filter_map(|r| {
                let kept = ratings.is_none_or(|(min, ratings)| ratings[r] >= min);
                let time = records.time.as_ref().map_or(0, |times| times[r]);
                let (user, item) = (records.user[r], records.item[r]);
                kept.then_some(Interaction { user, item, part, at: (time, start + r) })
            }));
            start += records.user.len();
        }
        Ok(log)
    }

    /// Sorts by user and item and merges duplicate pairs: the first part and, within it, the latest time are kept.
    pub fn merge(&mut self, notes: &mut Vec<String>) {
        // A stable sort is fast here because benchmark files are sorted already.
        self.interactions.sort_by_key(|i| (i.pair(), i.part, std::cmp::Reverse(i.at)));
        let (mut duplicates, mut valid, mut test) = (0, 0, 0);
        self.interactions.dedup_by(|next, kept| {
            let same = next.pair() == kept.pair();
            match next.part {
                _ if !same => {}
                part if part == kept.part => duplicates += 1,
                Part::Test => test += 1,
                _ => valid += 1,
            }
            same
        });
        if duplicates > 0 {
            notes.push(format!("merged {}", count(duplicates, "duplicate pair")));
        }
        for (overlap, part, earlier) in
            [(valid, Part::Valid, "the training"), (test, Part::Test, "an earlier")]
        {
            if overlap > 0 {
                let (pairs, part) = (count(overlap, "pair"), part.name());
                notes.push(format!("removed {pairs} from the {part} set: already in {earlier} set"));
            }
        }
    }
}

/// `1 pair`, `2 pairs`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
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

fn ratings(records: &Records) -> Result<&[f32]> {
    let ratings = records.rating.as_deref().ok_or_else(|| {
        InputError::new("the records have no ratings")
            .field("data.prepare.min_rating")
            .help("omit `data.prepare.min_rating`, or name the column of the ratings with `data.read.rating`")
    })?;
    match ratings.iter().position(|rating| rating.is_nan()) {
        None => Ok(ratings),
        Some(r) => Err(InputError::new(format!("record {} has no rating", r + 1))
            .field("data.prepare.min_rating")
            .help("omit `data.prepare.min_rating`, or give every record a rating")
            .into()),
    }
}
