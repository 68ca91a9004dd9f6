//! Parquet files with flat columns. Reading them takes the feature `parquet`.

#[cfg(feature = "parquet")]
mod column;
#[cfg(feature = "parquet")]
mod file;
#[cfg(feature = "parquet")]
mod parallel;
#[cfg(feature = "parquet")]
mod table;

use std::path::Path;

use super::source::{Source, mismatch};
use super::{Confidence, Format, ReadOptions};
use crate::{RawData, Result};

pub(super) const FORMAT: Format = Format {
    name: "parquet",
    summary: "Parquet with flat columns of numbers or text, by name or number",
    recognised_by: "the extension .parquet, or its first four bytes",
    options: &["user", "item", "rating", "time"],
    streams: false,
    recognise,
    read,
};

fn recognise(source: &Source) -> Confidence {
    if matches!(source, Source::Parquet(_)) { Confidence::Name } else { Confidence::None }
}

fn read(source: &Source, options: &ReadOptions) -> Result<RawData> {
    match source {
        Source::Parquet(path) => read_parquet(path, options),
        Source::Text(text) => Err(mismatch(&text.name, FORMAT.name, "a Parquet file", "text")),
        Source::Bundle(bundle) => Err(mismatch(&bundle.name, FORMAT.name, "a Parquet file", "several files")),
    }
}

#[cfg(feature = "parquet")]
fn read_parquet(path: &Path, options: &ReadOptions) -> Result<RawData> {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    // A corrupt file may make the third-party decoders panic; that is still an error of the file.
    catch_unwind(AssertUnwindSafe(|| file::read(path, options)))
        .unwrap_or_else(|_| Err(file::broken(path, &"its pages are inconsistent")))
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(path: &Path, _: &ReadOptions) -> Result<RawData> {
    Err(crate::InputError::missing_feature("read Parquet files", "parquet")
        .file(path)
        .help("convert it to CSV, or build with the feature `parquet`")
        .into())
}
