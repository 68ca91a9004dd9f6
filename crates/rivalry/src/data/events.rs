//! The records of all parts in one list, which is what filters and splits work on.

use super::{Parts, RawData, Records};
use crate::error::{InputError, Result};

/// Which part a pair belongs to. The order is that of precedence: a pair in two parts stays in the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Train,
    Valid,
    Test,
}

/// One interaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub user: u32,
    pub item: u32,
    pub part: Part,
    /// Time and place in the file, so that events of the same time still have an order.
    pub at: (i64, usize),
}

impl Event {
    pub fn pair(&self) -> (u32, u32) {
        (self.user, self.item)
    }
}

/// All events of a source.
#[derive(Clone, Debug)]
pub(super) struct Events {
    pub list: Vec<Event>,
    /// How many records were read.
    pub read: usize,
    /// Whether every record has a time.
    pub timed: bool,
}

impl Events {
    /// Gathers all records rated at least `min_rating`.
    pub fn gather(raw: &RawData, min_rating: Option<f32>) -> Result<Self> {
        let parts = match &raw.parts {
            Parts::Whole(records) => vec![(Part::Train, records)],
            Parts::Given { train, valid, test } => {
                let valid = valid.iter().map(|records| (Part::Valid, records));
                [(Part::Train, train)].into_iter().chain(valid).chain([(Part::Test, test)]).collect()
            }
        };
        if min_rating.is_some_and(f32::is_nan) {
            return Err(InputError::new("NaN is not a rating")
                .field("min_rating")
                .help("give a number")
                .into());
        }
        let read = parts.iter().map(|(_, records)| records.user.len()).sum();
        let timed = parts.iter().all(|(_, records)| records.time.is_some());
        let mut events = Self { list: Vec::with_capacity(read), read, timed };
        let mut line = 0;
        for (part, records) in parts {
            check(records, raw)?;
            let ratings = min_rating.map(|least| ratings(records).map(|list| (least, list))).transpose()?;
            events.list.extend((0..records.user.len()).filter_map(|r| {
                let kept = ratings.is_none_or(|(least, ratings)| ratings[r] >= least);
                let time = records.time.as_ref().map_or(0, |times| times[r]);
                let (user, item) = (records.user[r], records.item[r]);
                kept.then_some(Event { user, item, part, at: (time, line + r) })
            }));
            line += records.user.len();
        }
        Ok(events)
    }

    /// Sorts by user and item and merges repeated pairs: the first part and, within it, the latest time count.
    pub fn merge(&mut self, notes: &mut Vec<String>) {
        // A stable sort merges the runs in which benchmark files come; an unstable one would start from nothing.
        self.list.sort_by_key(|event| (event.pair(), event.part, std::cmp::Reverse(event.at)));
        let (mut repeats, mut valid, mut test) = (0, 0, 0);
        self.list.dedup_by(|next, kept| {
            let same = next.pair() == kept.pair();
            match next.part {
                _ if !same => {}
                part if part == kept.part => repeats += 1,
                Part::Test => test += 1,
                _ => valid += 1,
            }
            same
        });
        if repeats > 0 {
            notes.push(format!("merged {}", count(repeats, "duplicate pair")));
        }
        for (overlap, part, earlier) in [(valid, "validation", "the training"), (test, "test", "an earlier")]
        {
            if overlap > 0 {
                let pairs = count(overlap, "pair");
                notes.push(format!("removed {pairs} from the {part} part: already in {earlier} part"));
            }
        }
    }
}

/// `1 pair`, `2 pairs`.
pub(super) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// Readers keep these promises; whoever fills a `RawData` by hand gets an error instead of a panic.
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
            let message = format!("record {} names {what} {} of only {}", r + 1, column[r], ids.len());
            return Err(InputError::new(message).field(what).into());
        }
    }
    Ok(())
}

fn ratings(records: &Records) -> Result<&[f32]> {
    records.rating.as_deref().ok_or_else(|| {
        InputError::new("the records have no ratings to compare with")
            .field("min_rating")
            .help("leave min_rating out, or name the column that holds the ratings")
            .into()
    })
}
