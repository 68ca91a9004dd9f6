//! Reads files of interactions.
//!
//! Each format is one file and one line in [`FORMATS`]. The other modules are shared by the formats: opening files and
//! archives (`source`, `bundle`, `archive`), splitting text into fields (`rows`, `sniff`), finding columns (`columns`)
//! and turning rows into records (`table`, `dense`, `time`).

mod archive;
mod benchmark;
mod bundle;
mod columns;
mod csv;
mod dense;
mod lightgcn;
mod movielens_100k;
mod movielens_1m;
mod options;
mod parquet;
mod recbole;
mod rows;
mod sniff;
mod source;
mod table;
mod time;

#[cfg(test)]
mod tests;

use std::path::Path;

pub use self::options::ReadOptions;
use self::source::Source;
use crate::memory::MemoryLimit;
use crate::{InputError, RawData, Result, unknown_name};

/// The known formats.
pub static FORMATS: &[Format] = &[
    benchmark::FORMAT,
    csv::FORMAT,
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

/// Reads all interactions at `path`: a file, a compressed file (`.gz`, `.zst`, `.zip`), or a folder or zip file that
/// holds training and test parts.
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
    let requested = options.format.as_deref().map(|name| format_named(name, options)).transpose()?;
    let source = Source::open(path, memory)?;
    let format = match requested {
        Some(format) => format,
        None => recognise(path, &source, options)?,
    };
    (format.read)(&source, options)
}

fn format_named(name: &str, options: &ReadOptions) -> Result<&'static Format> {
    let Some(format) = FORMATS.iter().find(|format| format.name == name) else {
        return Err(unknown_name("format", name, FORMATS.iter().map(|format| format.name))
            .field("format")
            .into());
    };
    match options.given().into_iter().find(|option| !format.options.contains(option)) {
        None => Ok(format),
        Some(option) => Err(InputError::new(format!("the format '{name}' has no such option"))
            .field(option)
            .help("omit the option, or set `format` to csv to read any table")
            .into()),
    }
}

/// The most confident format among those that support all given options.
fn recognise(path: &Path, source: &Source, options: &ReadOptions) -> Result<&'static Format> {
    let given = options.given();
    let supports = |format: &&Format| given.iter().all(|option| format.options.contains(option));
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
            format!("no format that fits this file supports the options {}", given.join(", "))
        }
        (_, [format]) => return Ok(format),
        (_, several) => format!("ambiguous format: {}", names(several)),
    };
    let known: Vec<String> = FORMATS.iter().map(|f| format!("{} ({})", f.name, f.summary)).collect();
    let help = format!("set the option `format` to one of:\n    {}", known.join("\n    "));
    Err(InputError::new(message).file(path).help(help).into())
}
