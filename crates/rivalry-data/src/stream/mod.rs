//! Prepares logs that don't fit into memory: the same files as [`prepare`](crate::prepare()) and
//! [`write_benchmark`](crate::write_benchmark()) make, to the byte.
//!
//! 1. Rows are read some at a time. Their ids become dense ids, which stay in memory; their pairs are sorted in runs, which
//!    are files ([`sort`]).
//! 2. The runs are merged to one file of pairs, sorted by user and item, without duplicates ([`pairs`]).
//! 3. The k-core is found by going through this file until nothing changes ([`core`]). What is left of a pair follows from
//!    two lists, of users and of items.
//! 4. A split by time needs to know from when on pairs are held out ([`select`]). All else is decided for each user alone, so
//!    the file is split and written some users at a time ([`output`]).

mod budget;
mod core;
mod entry;
mod output;
mod pairs;
mod select;
mod sort;
#[cfg(test)]
mod tests;

use std::path::Path;

pub(crate) use self::budget::Budget;
use self::core::{Kept, k_core};
use self::entry::{Entry, Timed};
use self::output::Output;
use self::pairs::LogBlocks;
use self::select::find_cut;
use self::sort::Sorter;
use crate::error::{InputError, Result};
use crate::group::Removed;
use crate::log::{check_min_rating, no_ratings, note_removed};
use crate::prepare::{Filters, notes};
use crate::prepare_folder::{FIRST_ROWS, Prepared};
use crate::ratings::Ratings;
use crate::read::ReadOptions;
use crate::read::stream::{Stream, Streamed};
use crate::split::{AppliedSplit, Rule, Rules};
use crate::write::{NewFolder, check_ids};
use crate::{Preparation, Records};

/// Called with what is being done, how much of it is done, and how much there is.
pub(crate) type Progress<'a> = &'a mut dyn FnMut(&'static str, u64, u64);

/// What to prepare.
pub(crate) struct Task<'a> {
    pub name: &'a str,
    pub stream: &'a Stream,
    pub reading: &'a ReadOptions,
    pub preparation: &'a Preparation,
}

/// Refuses what needs all pairs in memory at once.
pub(crate) fn check(preparation: &Preparation) -> Result<Rules> {
    let rules = Rules::of(preparation, false)?;
    let refuse = |what: &str, field: &str| {
        let error =
            InputError::new(format!("{what} needs all pairs in memory, and they don't fit")).field(field);
        error.help("raise --max-memory, or use another setting")
    };
    if let Some(Rule::Popularity { .. }) = rules.test {
        return Err(refuse("a popularity split", "data.prepare.split.type").into());
    }
    if preparation.noise > 0.0 {
        return Err(refuse("adding false pairs", "data.prepare.noise").into());
    }
    Ok(rules)
}

/// Prepares a log and writes it to the folder `out`.
pub(crate) fn prepare(
    task: &Task<'_>,
    (out, replace): (&Path, bool),
    budget: &Budget,
    progress: Progress<'_>,
) -> Result<Prepared> {
    let rules = check(task.preparation)?;
    check_min_rating(task.preparation.min_rating)?;
    if task.preparation.min_rating.is_some() && !task.stream.rated() {
        return Err(no_ratings().into());
    }
    rules.check(task.stream.timed())?;
    let folder = NewFolder::create(out, replace)?;
    let prepared = match rules.needs().times {
        true => run::<Timed>(task, rules, &folder, budget, progress)?,
        false => run::<u64>(task, rules, &folder, budget, progress)?,
    };
    folder.commit()?;
    Ok(prepared)
}

/// What reading found besides the pairs.
#[derive(Default)]
struct Read {
    /// The number of records.
    records: usize,
    /// Of these, the number that count.
    rated: usize,
    ratings: Ratings,
    first: Records,
}

fn run<E: Entry>(
    task: &Task<'_>,
    rules: Rules,
    folder: &NewFolder,
    budget: &Budget,
    progress: Progress<'_>,
) -> Result<Prepared> {
    let (preparation, scratch) = (task.preparation, folder.scratch()?);
    let mut read = Read { first: task.stream.no_records(), ..Read::default() };
    let mut sorter = Sorter::<E>::new(&scratch, budget);
    let streamed = task.stream.read(task.reading, budget.stream, &mut |records, (done, total)| {
        progress("reading", done, total);
        read.add(records, preparation.min_rating, &mut sorter)
    })?;
    let Streamed { users, items, mut notes, reading } = streamed;
    let used = preparation.min_rating.is_some() || !task.stream.rated();
    let ratings = (!used).then_some(&read.ratings);
    notes::of_source(Some(&reading), ratings, rules.ignore_times(task.stream.timed()), &mut notes);

    let mut filters = Filters::new(preparation, read.records, read.rated)?;
    let mut kept = Kept::new(users.len(), items.len(), preparation);
    let mut pairs = sorter.merge(budget, &mut kept, progress)?;
    note_removed(Removed { duplicates: read.rated - kept.pairs, ..Removed::default() }, &mut notes);
    if filters.has_core() {
        pairs = k_core(pairs, &mut kept, budget, progress)?;
        filters.core(kept.pairs);
    }
    filters.check(kept.pairs)?;
    let (n_users, n_items) = kept.remaining();
    if filters.any() {
        notes.push(filters.note(n_users, n_items));
    }
    let remaining_users = (0..).zip(users.iter()).filter(|(user, _)| kept.users[*user]).map(|(_, id)| id);
    let remaining_items = (0..).zip(items.iter()).filter(|(item, _)| kept.has_item(*item)).map(|(_, id)| id);
    check_ids("user", remaining_users.clone())?;
    check_ids("item", remaining_items.clone())?;

    let blocks = LogBlocks { pairs: &pairs, kept: &kept, items: kept.new_items(), n_items, budget };
    let cut = find_cut(&blocks, rules, progress)?;
    let mut output = Output::new(folder, &scratch, (n_users, n_items))?;
    output.ids("user", remaining_users)?;
    output.ids("item", remaining_items)?;
    let mut done = 0;
    blocks.each(&mut |log| {
        progress("writing", done, kept.pairs as u64);
        done += log.table.len() as u64;
        let first = log.first_user;
        output.add(first, rules.split_at(log, cut))
    })?;
    notes::of_sets(output.tally(), rules, rules.needs_test(false), &mut notes)?;
    let warnings = notes::warnings(output.tally());
    let split = AppliedSplit::new(preparation, false, false);
    let first_rows = read.first.first_rows(FIRST_ROWS, &users, &items);
    let skipped = reading.skipped.clone();
    output.finish(|stats, checksum| Prepared {
        name: task.name.to_owned(),
        reading: Some(reading),
        first_rows,
        stats,
        checksum,
        split: Some(split),
        notes,
        warnings,
        skipped,
    })
}

impl Read {
    /// Adds records, of which those rated at least `min_rating` count.
    fn add<E: Entry>(
        &mut self,
        records: Records,
        min_rating: Option<f32>,
        sorter: &mut Sorter<'_, E>,
    ) -> Result<()> {
        if self.records < FIRST_ROWS {
            self.first.extend(records.first(FIRST_ROWS - self.records));
        }
        let Records { user, item, rating, time } = records;
        let threshold = min_rating.zip(rating.as_ref());
        if min_rating.is_none() {
            rating.iter().for_each(|rating| self.ratings.add(rating));
        }
        for (n, (&user, &item)) in user.iter().zip(&item).enumerate() {
            if threshold.is_none_or(|(min, ratings)| ratings[n] >= min) {
                self.rated += 1;
                let time = time.as_ref().map_or(0, |time| time[n]);
                let pair = u64::from(user) << 32 | u64::from(item);
                sorter.push(E::new(pair, (time, self.records + n)))?;
            }
        }
        self.records += user.len();
        Ok(())
    }
}
