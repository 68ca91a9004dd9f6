//! The share of one process in a data set that several processes train on: the pairs of its own users, and the counts of all.
//!
//! A prepared folder is gone through once, some rows at a time, for the counts and the checksum. Then the rows of the users
//! that the process is given are read.

mod blocks;
mod pairs_file;

use std::ops::Range;
use std::path::Path;

use self::pairs_file::{Counts, PairsFile};
use crate::dataset::DataChecksum;
use crate::error::Result;
use crate::memory::MemoryLimit;
use crate::prepare::notes;
use crate::read::{ReadOptions, SkippedRows, prepared_ids};
use crate::split::Rules;
use crate::tally::Tally;
use crate::{
    AppliedSplit, DataConfig, Dataset, DownloadProgress, Interactions, LoadOptions, Location, Parts,
    Preparation, Split, Validation, load, locate,
};

/// Loads the rows of some users of a data set, with the counts and the checksum of the whole. `users` chooses them, given a
/// training set that has counts only.
///
/// That is what it does with a folder that [`write_benchmark`](crate::write_benchmark()) wrote, if nothing is filtered or
/// split any more. Any other source is loaded as a whole.
///
/// # Errors
/// As [`load`](crate::load()), and if `users` gives one.
pub fn load_share(
    config: &DataConfig,
    options: &LoadOptions,
    users: &mut dyn FnMut(&Interactions) -> Result<Range<u32>>,
    progress: &mut dyn FnMut(DownloadProgress<'_>),
) -> Result<Dataset> {
    if is_read_as_it_is(config) && Path::new(&config.source).is_dir() {
        let located = locate(&config.source, options.data_dir.as_deref(), progress)?;
        if let Location::Path(folder) = &located.location
            && let Some(dataset) = share(&located.name, folder, &config.prepare, options.memory, users)?
        {
            return Ok(dataset);
        }
    }
    load(config, options, progress)
}

/// Whether the sets are read as they are: filters, noise and another split need all pairs.
fn is_read_as_it_is(config: &DataConfig) -> bool {
    let Preparation { min_rating, user_core, item_core, noise, split, .. } = &config.prepare;
    config.read == ReadOptions::default()
        && min_rating.is_none()
        && *user_core.max(item_core) <= 1
        && *noise == 0.0
        && matches!(split, Split::Auto {} | Split::Given {})
}

/// The tables of a prepared folder; there may be no validation and no test set.
#[derive(Clone, Debug)]
pub(crate) struct ShareSource(Parts<Option<PairsFile>>);

impl ShareSource {
    /// The rows of all users, given those of some.
    pub fn whole(&self, parts: Parts<&Interactions>) -> Result<Parts<Interactions>> {
        let table = |file: &Option<PairsFile>, part: &Interactions| -> Result<Interactions> {
            let items = items(file.as_ref(), 0..part.n_users(), part)?;
            Ok(Interactions::from_rows(part.n_items(), part.offsets().to_vec(), items))
        };
        let Parts { train, valid, test } = &self.0;
        Ok(Parts {
            train: table(train, parts.train)?,
            valid: table(valid, parts.valid)?,
            test: table(test, parts.test)?,
        })
    }
}

/// The items of these users in a table that was counted.
fn items(file: Option<&PairsFile>, users: Range<usize>, table: &Interactions) -> Result<Vec<u32>> {
    file.map_or(Ok(Vec::new()), |file| file.items(users, table.offsets()))
}

/// The share in a prepared folder; `None` if it is none, or a validation set is still to be split off.
fn share(
    name: &str,
    folder: &Path,
    preparation: &Preparation,
    memory: MemoryLimit,
    users: &mut dyn FnMut(&Interactions) -> Result<Range<u32>>,
) -> Result<Option<Dataset>> {
    let Some((user_ids, item_ids, checksums)) = prepared_ids(folder, memory)? else { return Ok(None) };
    let expected = if checksums.lists("valid.tsv") { Validation::Auto {} } else { Validation::None {} };
    if preparation.validation != expected {
        return Ok(None);
    }
    let size = (user_ids.len(), item_ids.len());
    let mut checksum = DataChecksum::default();
    checksum.add_ids(size.0, user_ids.iter());
    checksum.add_ids(size.1, item_ids.iter());
    let mut count = |name: &str| match checksums.lists(name) {
        true => PairsFile::count((folder, name), size, &checksums, &mut checksum).map(|(f, c)| (Some(f), c)),
        false => {
            (0..size.0).for_each(|_| checksum.add(0u64.to_le_bytes()));
            Ok((None, Counts::none(size)))
        }
    };
    let counted = Parts { train: count("train.tsv")?, valid: count("valid.tsv")?, test: count("test.tsv")? };
    let (checksum, needs_test) = (checksum.hex(), checksums.lists("test.tsv"));

    let files = counted.as_ref().map(|(file, _)| file.clone());
    let counts = counted
        .map(|(_, Counts { offsets, items })| Interactions::from_share(offsets, items, 0..0, Vec::new()));
    let tally = Tally::of_counts(counts.as_ref());
    let (rules, mut found) = (Rules::of(preparation, true)?, Vec::new());
    notes::of_sets(&tally, rules, rules.needs_test(needs_test), &mut found)?;
    let warnings = notes::warnings(&tally);

    let users = users(&counts.train)?;
    let users = users.start as usize..users.end as usize;
    let rows = |table: Interactions, file: &Option<PairsFile>| -> Result<Interactions> {
        let items = items(file.as_ref(), users.clone(), &table)?;
        Ok(table.with_rows(users.clone(), items))
    };
    Ok(Some(Dataset {
        name: name.to_owned(),
        users: user_ids,
        items: item_ids,
        split: Some(AppliedSplit::new(preparation, true, !counts.valid.is_empty())),
        train: rows(counts.train, &files.train)?,
        valid: rows(counts.valid, &files.valid)?,
        test: rows(counts.test, &files.test)?,
        checksum,
        notes: found,
        warnings,
        skipped: SkippedRows::default(),
        share: Some(ShareSource(files)),
    }))
}

#[cfg(test)]
mod tests;
