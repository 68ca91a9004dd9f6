//! Reads files of interactions.
//!
//! Each format is one file and one line in [`FORMATS`]. The other modules are shared by the formats: opening files and
//! archives (`source`, `bundle`, `parts`, `archive`), splitting text into fields (`rows`, `sniff`), finding columns (`columns`)
//! and turning rows into records (`table`, `parallel`, `json_row`, `records`, `dense`, `time`). `stream` reads tables that
//! don't fit into memory, and tables in several files.

mod archive;
mod benchmark;
mod bundle;
mod columns;
mod csv;
mod dense;
mod foreign;
mod json_row;
mod jsonl;
mod lightgcn;
mod movielens_100k;
mod movielens_1m;
mod options;
mod parallel;
mod parquet;
mod parts;
mod reading;
mod recbole;
mod records;
mod rows;
mod sniff;
mod source;
pub(crate) mod stream;
mod table;
mod time;
mod train_test;

#[cfg(test)]
mod tests;

use std::path::Path;

pub(crate) use self::archive::EXTENSIONS as COMPRESSED;
pub(crate) use self::benchmark::prepared_ids;
pub use self::columns::COLUMN_NAMES;
pub use self::options::ReadOptions;
use self::parallel::Sizes;
pub use self::reading::{ColumnRead, Reading, SkippedRow, SkippedRows};
use self::source::Source;
pub use self::time::parse_time;
use crate::memory::MemoryLimit;
use crate::{InputError, RawData, Result, unknown_name};

/// The known formats.
pub static FORMATS: &[Format] = &[
    benchmark::FORMAT,
    csv::FORMAT,
    train_test::FORMAT,
    jsonl::FORMAT,
    recbole::FORMAT,
    lightgcn::FORMAT,
    movielens_100k::FORMAT,
    movielens_1m::FORMAT,
    parquet::FORMAT,
];

/// A file format.
pub struct Format {
    /// The name for [`ReadOptions::format`].
    pub name: &'static str,
    /// A one-line description.
    pub summary: &'static str,
    /// How it is recognised, in one line.
    pub recognised_by: &'static str,
    /// The fields of [`ReadOptions`] it supports, besides `format`.
    pub options: &'static [&'static str],
    /// Whether its first lines are enough to begin with.
    streams: bool,
    recognise: fn(&Source) -> Confidence,
    read: fn(&Source, &ReadOptions) -> Result<RawData>,
}

/// How confident a format is that a source is written in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Confidence {
    /// It is not.
    None,
    /// The content could be.
    Plausible,
    /// The content has a signature that no other format has.
    Signature,
    /// The file name or extension says so.
    Name,
}

/// Reads all interactions at `path`: a file, a compressed file (`.gz`, `.zst`, `.xz`, `.bz2`, `.zip`), a folder of part files
/// (`part-0000.csv`, …), or a folder or zip file that holds training and test sets.
///
/// ```
/// use rivalry_data::{memory::MemoryLimit, read::{ReadOptions, read}};
/// let path = std::env::temp_dir().join(format!("rivalry-data-doctest-{}.csv", std::process::id()));
/// std::fs::write(&path, "user,item\nann,tea\nbob,milk\n")?;
/// let raw = read(&path, &ReadOptions::default(), MemoryLimit::default())?;
/// assert_eq!(raw.users.original(1), "bob");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the file can't be read, its format can't be recognised, its content violates the format, it needs a cargo feature
/// that this build lacks, or it is larger than `memory` allows.
pub fn read(path: &Path, options: &ReadOptions, memory: MemoryLimit) -> Result<RawData> {
    read_sized(path, options, memory, Sizes::default())
}

fn read_sized(path: &Path, options: &ReadOptions, memory: MemoryLimit, sizes: Sizes) -> Result<RawData> {
    let requested = requested_format(options)?;
    let source = Source::open(path, memory, sizes)?;
    if source.is_head()
        && let Ok(Some(raw)) = read_from_head(&source, path, requested, options)
    {
        return Ok(raw);
    }
    // If something is wrong with the file, the first error is not necessarily the one that was found first.
    let mut source = source.complete(memory)?;
    if let Source::Text(text) = &mut source {
        text.sizes = sizes;
    }
    read_source(&source, path, requested, options)
}

/// Reads a file of which only the first lines have been read, if its format allows it.
fn read_from_head(
    source: &Source,
    path: &Path,
    requested: Option<&'static Format>,
    options: &ReadOptions,
) -> Result<Option<RawData>> {
    let format = requested.map_or_else(|| recognise(path, source, options), Ok)?;
    if format.streams { (format.read)(source, options).map(Some) } else { Ok(None) }
}

/// Reads all interactions of a file that is in memory, such as standard input; `name` is for error messages.
///
/// # Errors
/// As [`read()`]. Parquet files are refused.
pub fn read_bytes(
    name: &Path,
    bytes: Vec<u8>,
    options: &ReadOptions,
    memory: MemoryLimit,
) -> Result<RawData> {
    let requested = requested_format(options)?;
    read_source(&Source::from_bytes(name, bytes, memory)?, name, requested, options)
}

fn requested_format(options: &ReadOptions) -> Result<Option<&'static Format>> {
    options.format.as_deref().map(|name| format_named(name, options)).transpose()
}

fn read_source(
    source: &Source,
    path: &Path,
    requested: Option<&'static Format>,
    options: &ReadOptions,
) -> Result<RawData> {
    let format = match requested {
        Some(format) => format,
        None => recognise(path, source, options)?,
    };
    (format.read)(source, options)
}

fn format_named(name: &str, options: &ReadOptions) -> Result<&'static Format> {
    let Some(format) = FORMATS.iter().find(|format| format.name == name) else {
        return Err(unknown_name("format", name, FORMATS.iter().map(|format| format.name))
            .field("data.read.format")
            .into());
    };
    match options.given().into_iter().find(|option| !format.options.contains(option)) {
        None => Ok(format),
        Some(option) => Err(InputError::new(format!("the format '{name}' has no such option"))
            .field(format!("data.read.{option}"))
            .help("omit it, or set `data.read.format = \"csv\"` to read any table")
            .into()),
    }
}

/// The most confident format among those that support all given options.
fn recognise(path: &Path, source: &Source, options: &ReadOptions) -> Result<&'static Format> {
    let given = options.given();
    // It has the options of CSV, but is never a single file.
    let fits =
        |format: &&Format| matches!(source, Source::Bundle(_)) || format.name != train_test::FORMAT.name;
    let supports =
        |format: &&Format| fits(format) && given.iter().all(|option| format.options.contains(option));
    let candidates: Vec<&Format> = FORMATS.iter().filter(supports).collect();
    if let [format] = candidates[..] {
        return Ok(format);
    }
    let rated: Vec<(Confidence, &Format)> =
        candidates.into_iter().map(|format| ((format.recognise)(source), format)).collect();
    let best = rated.iter().map(|(confidence, _)| *confidence).max().unwrap_or(Confidence::None);
    let matching: Vec<&Format> =
        rated.into_iter().filter(|(confidence, _)| *confidence == best).map(|(_, f)| f).collect();
    let names =
        |formats: &[&Format]| formats.iter().map(|format| format.name).collect::<Vec<_>>().join(" or ");
    let message = match (best, matching.as_slice()) {
        (Confidence::None, _) if given.is_empty() => "unknown format".to_owned(),
        (Confidence::None, _) => {
            let given: Vec<String> = given.iter().map(|option| format!("`data.read.{option}`")).collect();
            format!("no format that fits this file has {}", given.join(", "))
        }
        (_, [format]) => return Ok(format),
        (_, several) => format!("ambiguous format: {}", names(several)),
    };
    let known: Vec<String> = FORMATS.iter().map(|f| format!("{} ({})", f.name, f.summary)).collect();
    let help = format!("set `data.read.format` to one of:\n    {}", known.join("\n    "));
    Err(InputError::new(message).file(path).help(help).into())
}
