//! The share of one process in a data set that several processes train on: the pairs of its own users, and the counts of all.
//!
//! A prepared folder lists blocks of users with their checksums. Each process counts the pairs of some blocks, and they exchange
//! these counts; then each reads the rows of the users that it is given. Where the folder has no such list, or not all processes
//! see the same one or can read their part, each goes through all tables by itself, some rows at a time.

mod lines;
mod pairs_file;
mod together;

use std::ops::Range;
use std::path::{Path, PathBuf};

use self::pairs_file::{Counts, PairsFile};
use crate::dataset::DataChecksum;
use crate::error::Result;
use crate::prepare::notes;
use crate::prepared_blocks::PreparedBlocks;
use crate::prepared_checksums::PreparedChecksums;
use crate::read::{ReadOptions, SkippedRows, prepared_ids};
use crate::split::Rules;
use crate::tally::Tally;
use crate::{
    AppliedSplit, DataConfig, Dataset, DownloadProgress, IdMap, Interactions, LoadOptions, Location, Parts,
    Preparation, Split, Validation, load, locate,
};

/// The processes that load a data set together, as one of them sees them. All call the same functions in the same order.
pub trait Peers {
    /// The number of this process.
    fn rank(&self) -> usize;

    /// The number of processes.
    fn size(&self) -> usize;

    /// What each process gives, by rank.
    fn all_gather(&self, bytes: &[u8]) -> Vec<Vec<u8>>;

    /// What each process gives this one, by rank; `parts` is what this one gives each.
    fn all_to_all(&self, parts: Vec<Vec<u8>>) -> Vec<Vec<u8>>;
}

/// Loads the rows of some users of a data set, with the counts and the checksum of the whole, as one of several processes that
/// all call it. `users` chooses them, given a training set that has counts only.
///
/// That is what it does with a folder that [`write_benchmark`](crate::write_benchmark()) wrote, if nothing is filtered or
/// split any more. Any other source is loaded as a whole.
///
/// Processes need not find the same: an error, or other data than those of the others, is the result of one process alone.
///
/// # Errors
/// As [`load`](crate::load()), and if `users` gives one.
pub fn load_share(
    config: &DataConfig,
    options: &LoadOptions,
    peers: &dyn Peers,
    users: &mut dyn FnMut(&Interactions) -> Result<Range<u32>>,
    progress: &mut dyn FnMut(DownloadProgress<'_>),
) -> Result<Dataset> {
    let folder = open(config, options, progress);
    // Whatever they have found, all processes come here.
    let known = folder.as_ref().ok().and_then(Option::as_ref).filter(|folder| folder.blocks.is_some());
    let is_common =
        together::is_common(peers, &known.map_or_else(Vec::new, |folder| folder.checksums.to_bytes()));
    match folder? {
        Some(folder) => folder.share(&config.prepare, is_common.then_some(peers), users),
        None => load(config, options, progress),
    }
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
type Files = Parts<Option<PairsFile>>;

/// Where the rows of other users are.
#[derive(Clone, Debug)]
pub(crate) struct ShareSource(Files);

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

/// A prepared folder.
struct PreparedFolder {
    /// The name of the data set.
    name: String,
    path: PathBuf,
    users: IdMap,
    items: IdMap,
    checksums: PreparedChecksums,
    /// The tables and the checksum of the data set, if the folder lists blocks.
    blocks: Option<(Files, String)>,
}

/// Opens the folder of a data set that can be shared; `None` if it can't: it is something else, or is still to be filtered or
/// split.
fn open(
    config: &DataConfig,
    options: &LoadOptions,
    progress: &mut dyn FnMut(DownloadProgress<'_>),
) -> Result<Option<PreparedFolder>> {
    if !is_read_as_it_is(config) || !Path::new(&config.source).is_dir() {
        return Ok(None);
    }
    let located = locate(&config.source, options.data_dir.as_deref(), progress)?;
    let (Location::Path(path), name) = (located.location, located.name) else { return Ok(None) };
    let Some((users, items, checksums)) = prepared_ids(&path, options.memory)? else { return Ok(None) };
    let expected = if checksums.lists("valid.tsv") { Validation::Auto {} } else { Validation::None {} };
    if config.prepare.validation != expected {
        return Ok(None);
    }
    let size = (users.len(), items.len());
    let blocks = PreparedBlocks::read(&path, &checksums)?.and_then(|PreparedBlocks { data, tables }| {
        let table = |name: &str| match checksums.lists(name) {
            true => PairsFile::known((&path, name), size, tables.get(name)?).map(Some),
            false => Some(None),
        };
        Some((
            Parts { train: table("train.tsv")?, valid: table("valid.tsv")?, test: table("test.tsv")? },
            data,
        ))
    });
    Ok(Some(PreparedFolder { name, path, users, items, checksums, blocks }))
}

impl PreparedFolder {
    /// The share of one process; `peers` are given if all have the same list of blocks.
    fn share(
        mut self,
        preparation: &Preparation,
        peers: Option<&dyn Peers>,
        users: &mut dyn FnMut(&Interactions) -> Result<Range<u32>>,
    ) -> Result<Dataset> {
        let size = (self.users.len(), self.items.len());
        let counted = self.blocks.take().zip(peers).and_then(|((files, checksum), peers)| {
            let counts = together::count(&files, size, peers)?;
            Some((files, counts, checksum))
        });
        let (files, counts, checksum) = counted.map_or_else(|| self.count(), Ok)?;

        let counts = counts
            .map(|Counts { offsets, items }| Interactions::from_share(offsets, items, 0..0, Vec::new()));
        let tally = Tally::of_counts(counts.as_ref());
        let (rules, mut found) = (Rules::of(preparation, true)?, Vec::new());
        notes::of_sets(&tally, rules, rules.needs_test(self.checksums.lists("test.tsv")), &mut found)?;
        let warnings = notes::warnings(&tally);

        let users = users(&counts.train)?;
        let users = users.start as usize..users.end as usize;
        let rows = |table: Interactions, file: &Option<PairsFile>| -> Result<Interactions> {
            let items = items(file.as_ref(), users.clone(), &table)?;
            Ok(table.with_rows(users.clone(), items))
        };
        Ok(Dataset {
            name: self.name,
            users: self.users,
            items: self.items,
            split: Some(AppliedSplit::new(preparation, true, !counts.valid.is_empty())),
            train: rows(counts.train, &files.train)?,
            valid: rows(counts.valid, &files.valid)?,
            test: rows(counts.test, &files.test)?,
            checksum,
            notes: found,
            warnings,
            skipped: SkippedRows::default(),
            share: Some(ShareSource(files)),
        })
    }

    /// Goes through all tables: their blocks, their counts and the checksum of the data set.
    fn count(&self) -> Result<(Files, Parts<Counts>, String)> {
        let Self { path, users, items, checksums, .. } = self;
        let size = (users.len(), items.len());
        let mut checksum = DataChecksum::default();
        checksum.add_ids(size.0, users.iter());
        checksum.add_ids(size.1, items.iter());
        let mut count = |name: &str| match checksums.lists(name) {
            true => PairsFile::count((path, name), size, checksums, &mut checksum).map(|(f, c)| (Some(f), c)),
            false => {
                (0..size.0).for_each(|_| checksum.add(0u64.to_le_bytes()));
                Ok((None, Counts::none(size)))
            }
        };
        let (train, valid, test) = (count("train.tsv")?, count("valid.tsv")?, count("test.tsv")?);
        let files = Parts { train: train.0, valid: valid.0, test: test.0 };
        Ok((files, Parts { train: train.1, valid: valid.1, test: test.1 }, checksum.hex()))
    }
}

#[cfg(test)]
mod tests;
