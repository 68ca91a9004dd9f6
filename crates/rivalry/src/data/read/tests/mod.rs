//! The readers as a user meets them: files on disk, good and bad.

mod faults;
mod formats;
mod parquet;
mod robust;

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{ReadOptions, read};
use crate::data::{Parts, RawData, Records};

/// A folder of its own for each test.
struct Place(TempDir);

impl Place {
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

fn usual() -> ReadOptions {
    ReadOptions::default()
}

fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn gzipped(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Reads one file of that name and content.
fn read_text(name: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> crate::Result<RawData> {
    let place = Place::new();
    read(&place.file(name, bytes), options)
}

/// What is wrong with a file of that name and content, its folder left out.
fn fault(name: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> String {
    let place = Place::new();
    fault_at(&place, &place.file(name, bytes), options)
}

fn fault_at(place: &Place, path: &Path, options: &ReadOptions) -> String {
    let error = read(path, options).unwrap_err();
    assert_eq!(error.exit_code(), 2, "{error}");
    error.to_string().replace(&format!("{}/", place.path().display()), "")
}

/// Records with their original ids, `user item rating time`, as far as they have them.
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
        Parts::Whole(records) => lines(data, records),
        Parts::Given { .. } => panic!("the parts are given"),
    }
}

/// Training, validation and test lines.
fn given(data: &RawData) -> [Vec<String>; 3] {
    match &data.parts {
        Parts::Whole(_) => panic!("no parts are given"),
        Parts::Given { train, valid, test } => {
            [lines(data, train), valid.as_ref().map_or(Vec::new(), |v| lines(data, v)), lines(data, test)]
        }
    }
}
