//! From a source to a prepared folder, in memory or, if that doesn't suffice, some rows at a time.

use std::path::Path;

use super::read::{ReadOptions, Reading, SkippedRows, stream::Stream};
use super::{
    AppliedSplit, DataConfig, Dataset, DownloadProgress, LoadOptions, Location, Preparation, RawRow,
    STANDARD_INPUT, Stats, load_raw, locate, prepare, stats, stream, write_benchmark,
};
use crate::Result;
use crate::split::Rules;
use crate::stream::{Budget, Task};
use crate::write::Summary;

/// How many rows of a source are shown.
pub(crate) const FIRST_ROWS: usize = 5;

/// About how many bytes a row takes at most while a log is read, merged and split in memory, if most users are new; and how
/// many more if the split asks for times, and if there is a k-core filter.
const BYTES_PER_ROW: u64 = 64;
const BYTES_PER_TIME: u64 = 16;
const BYTES_PER_EDGE: u64 = 24;

/// A prepared data set in figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// The name in the catalogue, or the file name.
    pub name: String,
    /// How the source was read; `None` if it is not a file.
    pub reading: Option<Reading>,
    /// The first rows of the source.
    pub first_rows: Vec<RawRow>,
    /// Its statistics.
    pub stats: Stats,
    /// Its [`Dataset::checksum`].
    pub checksum: String,
    /// How the sets were chosen.
    pub split: Option<AppliedSplit>,
    /// Messages for the user; see [`Dataset::notes`].
    pub notes: Vec<String>,
    /// What makes figures on these data misleading.
    pub warnings: Vec<String>,
    /// The rows of the source that were left out.
    pub skipped: SkippedRows,
}

impl Prepared {
    /// A data set in memory, and what is known of its source.
    pub fn of(dataset: Dataset, reading: Option<Reading>, first_rows: Vec<RawRow>) -> Self {
        let stats = stats(&dataset);
        let Dataset { name, checksum, notes, warnings, split, skipped, .. } = dataset;
        Self { name, reading, first_rows, stats, checksum, split, notes, warnings, skipped }
    }

    pub(crate) fn summary(&self) -> Summary<'_> {
        let Self { name, stats, checksum, notes, warnings, .. } = self;
        Summary { name, stats, checksum, split: self.split.as_ref(), notes, warnings }
    }
}

/// How far a preparation is.
#[derive(Clone, Copy, Debug)]
pub enum PrepareProgress<'a> {
    /// The source is being downloaded.
    Download(DownloadProgress<'a>),
    /// A log that doesn't fit into memory is being prepared.
    Step {
        /// What is being done: `reading`, `sorting`…
        what: &'static str,
        /// How much of it is done.
        done: u64,
        /// How much there is.
        total: u64,
    },
}

/// Loads a source, as [`load`](crate::load()) does, and writes it to the folder `out`, as [`write_benchmark`] does.
///
/// A CSV or Parquet file, or a folder of such files, that doesn't fit into [`LoadOptions::memory`] is read, filtered, split and
/// written some rows at a time. The files are the same. The different ids must fit into memory, and there must be room for the
/// pairs beside `out`.
///
/// ```
/// use rivalry_data::{DataConfig, LoadOptions, prepare_folder};
/// let out = std::env::temp_dir().join(format!("rivalry-prepare-doctest-{}", std::process::id()));
/// let prepared = prepare_folder(&DataConfig::new("synthetic"), &LoadOptions::default(), (&out, true), &mut |_| {})?;
/// assert_eq!(prepared.stats.users, 1500);
/// # std::fs::remove_dir_all(&out).unwrap();
/// # Ok::<(), rivalry_data::Error>(())
/// ```
///
/// # Errors
/// If the source can't be found, downloaded, read or split, or what is asked for needs more memory than allowed; if the folder
/// exists and is not to be replaced, or contains other files; or if writing fails.
pub fn prepare_folder(
    config: &DataConfig,
    options: &LoadOptions,
    (out, replace): (&Path, bool),
    progress: &mut dyn FnMut(PrepareProgress<'_>),
) -> Result<Prepared> {
    let reading = ReadOptions { needs_ratings: config.prepare.min_rating.is_some(), ..config.read.clone() };
    if let Some((name, stream)) = too_large(config, &reading, options, progress)? {
        let task = Task { name: &name, stream: &stream, reading: &reading, preparation: &config.prepare };
        let budget = Budget::within(options.memory);
        return stream::prepare(&task, (out, replace), &budget, &mut |what, done, total| {
            progress(PrepareProgress::Step { what, done, total });
        });
    }
    let (name, raw) =
        load_raw(config, options, &mut |download| progress(PrepareProgress::Download(download)))?;
    let (reading, first_rows) = (raw.reading.clone(), raw.first_rows(FIRST_ROWS));
    let dataset = prepare(&name, raw, &config.prepare)?;
    write_benchmark(&dataset, out, replace)?;
    Ok(Prepared::of(dataset, reading, first_rows))
}

/// The source and its name, if it is a table that doesn't fit into memory.
fn too_large(
    config: &DataConfig,
    reading: &ReadOptions,
    options: &LoadOptions,
    progress: &mut dyn FnMut(PrepareProgress<'_>),
) -> Result<Option<(String, Stream)>> {
    if config.source == STANDARD_INPUT {
        return Ok(None);
    }
    let download = &mut |download: DownloadProgress<'_>| progress(PrepareProgress::Download(download));
    let located = locate(&config.source, options.data_dir.as_deref(), download)?;
    let Location::Path(path) = located.location else { return Ok(None) };
    let stream = match Stream::open(&path, reading) {
        Ok(Some(stream)) => stream,
        Ok(None) => return Ok(None),
        Err(error) if options.memory.require(bytes_of(&path), "it").is_err() => return Err(error),
        // Reading the source as a whole finds the same error.
        Err(_) => return Ok(None),
    };
    let bytes = stream.rows.saturating_mul(bytes_per_row(&config.prepare));
    let fits = options.memory.require(bytes, "it").is_ok();
    Ok((!fits).then_some((located.name, stream)))
}

/// The size of a file, or of the files in a folder.
fn bytes_of(path: &Path) -> u64 {
    let size = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
    match path.read_dir() {
        Ok(entries) => entries.flatten().map(|entry| size(&entry.path())).sum(),
        Err(_) => size(path),
    }
}

/// About how much memory a row of a log takes.
fn bytes_per_row(preparation: &Preparation) -> u64 {
    let times = Rules::of(preparation, false).is_ok_and(|rules| rules.needs().times);
    let core = preparation.user_core > 1 || preparation.item_core > 1;
    BYTES_PER_ROW + u64::from(times) * BYTES_PER_TIME + u64::from(core) * BYTES_PER_EDGE
}
