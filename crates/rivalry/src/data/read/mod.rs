//! Reads files of interactions. One file a format, one line in [`FORMATS`]; the other rooms here are what the
//! formats share: where the bytes come from (`source`, `bundle`, `unpack`), how a text is cut (`rows`, `sniff`), which
//! column is what (`columns`) and how rows become records (`table`, `dense`).

mod benchmark;
mod bundle;
mod columns;
mod csv;
mod dense;
mod lightgcn;
mod movielens_100k;
mod movielens_1m;
mod parquet;
mod parquet_column;
mod recbole;
mod rows;
mod sniff;
mod source;
mod table;
mod time;
mod unpack;

#[cfg(test)]
mod tests;

use std::path::Path;

use serde::{Deserialize, Serialize};

use self::source::Source;
use super::RawData;
use crate::{InputError, Result, unknown_name};

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

/// How to read; everything `None` is found out from the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// A name from [`FORMATS`].
    pub format: Option<String>,
    /// What stands between two fields; a blank stands for any number of blanks and tabs.
    pub delimiter: Option<char>,
    /// Whether the first row names the columns.
    pub header: Option<bool>,
    /// The column of user ids, by name or by number (from 1).
    pub user: Option<String>,
    /// The column of item ids, likewise.
    pub item: Option<String>,
    /// The column of ratings, likewise; an empty name leaves ratings out.
    pub rating: Option<String>,
    /// The column of times, likewise; an empty name leaves times out.
    pub time: Option<String>,
}

impl ReadOptions {
    /// The options, other than the format, that were given.
    fn given(&self) -> Vec<&'static str> {
        [
            ("delimiter", self.delimiter.is_some()),
            ("header", self.header.is_some()),
            ("user", self.user.is_some()),
            ("item", self.item.is_some()),
            ("rating", self.rating.is_some()),
            ("time", self.time.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, given)| given.then_some(name))
        .collect()
    }

    /// Whether a column was asked for by something other than a number, so that there must be a header.
    fn names_a_column(&self) -> bool {
        let asked = [&self.user, &self.item, &self.rating, &self.time];
        asked.into_iter().flatten().any(|name| !name.bytes().all(|b| b.is_ascii_digit()))
    }
}

/// A way interactions are written down.
pub struct Format {
    /// The name to ask for it by.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// What it is recognised by, in one line.
    pub recognised_by: &'static str,
    /// The fields of [`ReadOptions`] it heeds, beside `format`.
    pub options: &'static [&'static str],
    claim: fn(&Source) -> Claim,
    read: fn(&Source, &ReadOptions) -> Result<RawData>,
}

/// How sure a format is that a source is its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    /// It is not.
    No,
    /// The content could be.
    Fits,
    /// The content is of a kind no other format has.
    Signed,
    /// The name says so.
    Named,
}

/// Reads all interactions at `path`: a file, a wrapped file (`.gz`, `.zst`, `.zip`), or a folder or zip file that
/// holds training and test parts.
///
/// # Errors
/// If the file can't be read, its format can't be told, or anything in it is not what the format promises.
pub fn read(path: &Path, options: &ReadOptions) -> Result<RawData> {
    if let Some(name) = &options.format {
        asked_format(name, options)?;
    }
    let source = Source::open(path)?;
    let format = match &options.format {
        Some(name) => asked_format(name, options)?,
        None => recognise(path, &source, options)?,
    };
    (format.read)(&source, options)
}

fn asked_format(name: &str, options: &ReadOptions) -> Result<&'static Format> {
    let Some(format) = FORMATS.iter().find(|format| format.name == name) else {
        return Err(unknown_name("format", name, FORMATS.iter().map(|format| format.name))
            .field("format")
            .into());
    };
    match options.given().into_iter().find(|option| !format.options.contains(option)) {
        None => Ok(format),
        Some(option) => Err(InputError::new(format!("the format '{name}' has no such option"))
            .field(option)
            .help("leave the option out, or set `format` to csv to read any table")
            .into()),
    }
}

/// The format with the best claim, of those that heed all options given.
fn recognise(path: &Path, source: &Source, options: &ReadOptions) -> Result<&'static Format> {
    let given = options.given();
    let heeds = |format: &&Format| given.iter().all(|option| format.options.contains(option));
    let heeding: Vec<&Format> = FORMATS.iter().filter(heeds).collect();
    if let [format] = heeding[..] {
        return Ok(format);
    }
    let claims: Vec<(Claim, &Format)> =
        heeding.into_iter().map(|format| ((format.claim)(source), format)).collect();
    let best = claims.iter().map(|(claim, _)| *claim).max().unwrap_or(Claim::No);
    let fitting: Vec<&Format> =
        claims.into_iter().filter(|(claim, _)| *claim == best).map(|(_, f)| f).collect();
    let names =
        |formats: &[&Format]| formats.iter().map(|format| format.name).collect::<Vec<_>>().join(" or ");
    let message = match (best, fitting.as_slice()) {
        (Claim::No, _) if given.is_empty() => "can't tell what format this is".to_owned(),
        (Claim::No, _) => format!("this is no file the options {} apply to", given.join(", ")),
        (_, [format]) => return Ok(format),
        (_, several) => format!("can't tell whether this is {}", names(several)),
    };
    let known: Vec<String> = FORMATS.iter().map(|f| format!("{} ({})", f.name, f.summary)).collect();
    let help = format!("set the option `format` to one of:\n    {}", known.join("\n    "));
    Err(InputError::new(message).file(path).help(help).into())
}
