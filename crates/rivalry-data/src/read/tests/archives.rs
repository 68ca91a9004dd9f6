//! gzip, Zstandard and zip files.

use std::io::{Cursor, Write};

use super::errors::check;
use super::formats::{BENCHMARK, RATINGS, RATINGS_READ, benchmark_parts};
use super::*;

pub(super) fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

pub(super) fn gzipped(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compressed_files_are_recognised_whatever_their_name() {
    let folder = Folder::new();
    let zst = zstd::encode_all(RATINGS.as_bytes(), 3).unwrap();
    let zip =
        zipped(&[("ml-latest/ratings.csv", RATINGS), ("ml-latest/movies.csv", "movieId,title\n31,Heat\n")]);
    for (name, bytes) in [
        ("a.csv.gz", gzipped(RATINGS)),
        ("b.csv.zst", zst.clone()),
        ("c", gzipped(RATINGS)),
        ("d.dat", zst),
        ("e.zip", zip),
        ("f", zipped(&[("anything", RATINGS)])),
    ] {
        assert_eq!(whole(&read(&folder.file(name, bytes), &defaults()).unwrap()), RATINGS_READ, "{name}");
    }
}

#[test]
fn a_benchmark_in_a_zip_or_in_a_folder_in_a_zip_or_compressed_in_a_folder() {
    let folder = Folder::new();
    let nested = BENCHMARK.map(|(name, text)| (format!("proc/{name}"), text));
    let mut nested: Vec<(&str, &str)> = nested.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    nested.push(("__MACOSX/proc/._train.tsv", "junk"));
    nested.push(("README", "about"));
    folder.file("flat.zip", zipped(&BENCHMARK));
    folder.file("nested.zip", zipped(&nested));
    for (name, text) in BENCHMARK {
        folder.file(&format!("folder/{name}.gz"), gzipped(text));
    }
    for name in ["flat.zip", "nested.zip", "folder"] {
        let data = read(&folder.path().join(name), &defaults()).unwrap();
        assert_eq!(given(&data), benchmark_parts(), "{name}");
        assert_eq!(data.users.dense("ann b"), Some(1));
    }
}

#[test]
fn truncated_and_corrupt_archives() {
    let text: String = (0..5000).map(|n| format!("{n},{}\n", n * n)).collect();
    let half = |bytes: Vec<u8>| bytes[..bytes.len() / 2].to_vec();
    let broken =
        |name, bytes, start| check(&error_of(name, bytes, &defaults()), start, &["download it again"]);
    broken("a.csv.gz", half(gzipped(&text)), "a.csv.gz: broken gzip file");
    let zst = zstd::encode_all(text.as_bytes(), 3).unwrap();
    broken("a.csv.zst", half(zst), "a.csv.zst: broken zstd file");
    let zip = zipped(&[("a.csv", &text)]);
    broken("a.zip", half(zip.clone()), "a.zip: broken zip file");
    let mut flipped = zip;
    flipped[2000] ^= 0x55;
    broken("a.zip", flipped, "a.zip/a.csv: broken zip file");
}

#[test]
fn errors_name_the_archive_and_the_file_inside() {
    check(&error_of("a.gz", gzipped(""), &defaults()), "a.gz: the file is empty", &[]);
    check(&error_of("a.zip", zipped(&[]), &defaults()), "a.zip: no files inside", &[]);
    let zip = zipped(&[("train.tsv", "user\titem\n0\tx\n"), ("test.tsv", "0\t0\n")]);
    check(
        &error_of("set.zip", zip, &defaults()),
        "set.zip/train.tsv:2: item: 'x' is not an integer",
        &["help"],
    );
    let zip = zipped(&[("a.csv", "1,2\n"), ("b.csv", "1,2\n")]);
    check(&error_of("z.zip", zip, &defaults()), "z.zip: can't tell which of the 2 files", &["a.csv, b.csv"]);
    let two = ["a/train.tsv", "a/test.tsv", "b/train.tsv", "b/test.tsv"].map(|name| (name, "0\t0\n"));
    check(&error_of("z.zip", zipped(&two), &defaults()), "z.zip: can't tell which of the 4 files", &[]);
    let zip = zipped(&[("a.parquet", "PAR1")]);
    check(&error_of("a.zip", zip, &defaults()), "a.zip/a.parquet: ", &["extract it first"]);
}

/// Compares with the counts stated by the data set itself, if it is present.
#[test]
fn the_published_gowalla_data_set() {
    let Some(folder) = std::env::var_os("RIVALRY_DATA") else { return };
    let data = read(&Path::new(&folder).join("gowalla.zip"), &defaults()).unwrap();
    let Parts { train, test, .. } = given(&data);
    assert_eq!(
        [data.users.len(), data.items.len(), train.len(), test.len()],
        [29858, 40988, 810_128, 217_336]
    );
    assert_eq!((data.users.original(1), data.items.original(2), train[0].as_str()), ("2", "8947", "0 8938"));
}
