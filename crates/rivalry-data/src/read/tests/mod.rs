//! Readers on files, valid and invalid.

#[cfg(feature = "archives")]
mod archives;
mod errors;
mod formats;
mod json_lines;
mod lenient;
#[cfg(not(all(feature = "archives", feature = "parquet")))]
mod missing_features;
#[cfg(feature = "parquet")]
mod parquet;
mod robust;
mod same;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::ReadOptions;
use crate::memory::MemoryLimit;
use crate::{Parts, RawData, RawParts, Records};

/// A temporary folder.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

fn defaults() -> ReadOptions {
    ReadOptions::default()
}

fn read(path: &Path, options: &ReadOptions) -> crate::Result<RawData> {
    super::read(path, options, MemoryLimit::default())
}

/// Reads a file with this name and content.
fn read_text(name: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> crate::Result<RawData> {
    let folder = Folder::new();
    read(&folder.file(name, bytes), options)
}

/// The error for a file with this name and content, without its folder.
fn error_of(name: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> String {
    let folder = Folder::new();
    error_at(&folder, &folder.file(name, bytes), options)
}

fn error_at(folder: &Folder, path: &Path, options: &ReadOptions) -> String {
    let error = read(path, options).unwrap_err();
    assert_eq!(error.exit_code(), 2, "{error}");
    error.to_string().replace(&format!("{}/", folder.path().display()), "")
}

/// Records with original ids, as `user item rating @time`.
fn lines(data: &RawData, records: &Records) -> Vec<String> {
    let line = |n: usize| {
        let mut line =
            format!("{} {}", data.users.original(records.user[n]), data.items.original(records.item[n]));
        if let Some(rating) = &records.rating {
            line += &format!(" {}", rating[n]);
        }
        if let Some(time) = &records.time {
            line += &format!(" @{}", time[n]);
        }
        line
    };
    (0..records.user.len()).map(line).collect()
}

fn whole(data: &RawData) -> Vec<String> {
    match &data.parts {
        RawParts::Whole(records) => lines(data, records),
        RawParts::Given { .. } => panic!("the parts are given"),
    }
}

/// The lines of each part.
fn given(data: &RawData) -> Parts<Vec<String>> {
    match &data.parts {
        RawParts::Whole(_) => panic!("no parts are given"),
        RawParts::Given { train, valid, test } => Parts {
            train: lines(data, train),
            valid: valid.as_ref().map_or(Vec::new(), |valid| lines(data, valid)),
            test: lines(data, test),
        },
    }
}

fn parts(train: &[&str], valid: &[&str], test: &[&str]) -> Parts<Vec<String>> {
    Parts { train, valid, test }.map(|lines| lines.iter().map(|line| line.to_string()).collect())
}
