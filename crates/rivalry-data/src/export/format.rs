//! The formats of tables, and how a name decides between them.

use crate::files::Output;
use crate::{InputError, Result};

/// The format of a table: CSV, TSV, JSON lines or a JSON array, each optionally compressed, or Parquet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableFormat {
    kind: Kind,
    compression: Option<Compression>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Csv,
    Tsv,
    JsonLines,
    Json,
    Parquet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Zstandard,
}

const KINDS: [(&str, Kind); 6] = [
    ("csv", Kind::Csv),
    ("tsv", Kind::Tsv),
    ("jsonl", Kind::JsonLines),
    ("ndjson", Kind::JsonLines),
    ("json", Kind::Json),
    ("parquet", Kind::Parquet),
];

const COMPRESSIONS: [(&str, Compression); 2] = [("gz", Compression::Gzip), ("zst", Compression::Zstandard)];

const KNOWN: &str = "csv, tsv, jsonl, ndjson and json, each also with .gz or .zst, and parquet";

impl TableFormat {
    /// CSV without compression.
    pub const CSV: Self = Self { kind: Kind::Csv, compression: None };

    /// The format with this name, such as `csv` or `jsonl.gz`.
    ///
    /// # Errors
    /// If there is no such format.
    pub fn by_name(name: &str) -> Result<Self> {
        let found = Self::find(&format!(".{name}"))?;
        found.ok_or_else(|| {
            InputError::new(format!("unknown format '{name}'")).help(format!("there are {KNOWN}")).into()
        })
    }

    /// The format of an output: the named one if there is a name, otherwise the one of the file's extension. A stream
    /// is CSV unless there is a name.
    ///
    /// # Errors
    /// If the name or the extension is not known, or one contradicts the other.
    pub fn of_output(output: &Output, name: Option<&str>) -> Result<Self> {
        let named = name.map(Self::by_name).transpose()?;
        if output.file().is_none() {
            return Ok(named.unwrap_or(Self::CSV));
        }
        let file_name = output.path().file_name().unwrap_or_default().to_string_lossy();
        let by_extension = Self::find(&file_name).map_err(|e| e.file(output.path()))?;
        match (named, by_extension) {
            (Some(named), Some(other)) if named != other => {
                let what = format!("the extension is not that of the format '{}'", name.unwrap_or_default());
                Err(InputError::new(what)
                    .file(output.path())
                    .help("leave --format out, or rename the file")
                    .into())
            }
            (Some(format), _) | (None, Some(format)) => Ok(format),
            (None, None) => Err(InputError::new("can't tell the format from this file name")
                .file(output.path())
                .help(format!("there are {KNOWN}; or give --format"))
                .into()),
        }
    }

    /// The format that the extensions of a file name stand for, if they stand for any.
    fn find(file_name: &str) -> Result<Option<Self>, InputError> {
        let name = file_name.to_lowercase();
        let stripped = COMPRESSIONS.iter().find_map(|(extension, compression)| {
            Some((name.strip_suffix(&format!(".{extension}"))?, *compression))
        });
        let (name, compression) = stripped.map_or((&*name, None), |(name, by)| (name, Some(by)));
        let kind = KINDS.iter().find(|(extension, _)| name.ends_with(&format!(".{extension}")));
        match (kind, compression) {
            (Some((_, Kind::Parquet)), Some(_)) => {
                Err(InputError::new("Parquet is compressed already").help("name it .parquet"))
            }
            (Some(&(_, kind)), compression) => Ok(Some(Self { kind, compression })),
            (None, _) => Ok(None),
        }
    }

    pub(super) fn kind(self) -> Kind {
        self.kind
    }

    pub(super) fn compression(self) -> Option<Compression> {
        self.compression
    }

    /// Refuses what this build can't write.
    pub(super) fn check_build(self) -> Result<(), InputError> {
        #[cfg(not(feature = "parquet"))]
        if self.kind == Kind::Parquet {
            return Err(InputError::missing_feature("write Parquet files", "parquet"));
        }
        #[cfg(not(feature = "archives"))]
        if self.compression.is_some() {
            return Err(InputError::missing_feature("compress files", "archives"));
        }
        Ok(())
    }
}
