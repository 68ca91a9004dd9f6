//! gzip, Zstandard, xz, bzip2 and zip files.

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

/// `RATINGS`, compressed by `xz`.
#[rustfmt::skip]
pub(super) const XZ: &[u8] = &[
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01,
        0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0xe0, 0x00, 0x46, 0x00, 0x45, 0x5d, 0x00, 0x3a,
        0x9c, 0xc8, 0xce, 0xe0, 0xa3, 0x52, 0x31, 0xff, 0x54, 0x13, 0x05, 0x36, 0xba, 0x7c, 0x9d, 0x72,
        0x7e, 0x3b, 0x46, 0xb2, 0x75, 0xa5, 0x32, 0xe3, 0x79, 0x53, 0x5b, 0x44, 0x74, 0x3c, 0x35, 0x76,
        0xd7, 0xbe, 0x0c, 0x93, 0x73, 0xc1, 0x39, 0x1e, 0xcf, 0x33, 0xc9, 0xb2, 0xe3, 0xdb, 0x63, 0xd1,
        0xd9, 0xda, 0x77, 0x51, 0x6f, 0x04, 0x1e, 0x10, 0x79, 0x42, 0xf2, 0xe5, 0xbb, 0x73, 0x3a, 0x69,
        0xbe, 0x3f, 0x8e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x44, 0xde, 0x17, 0xbd, 0xf4, 0x26, 0x7f, 0x0e,
        0x00, 0x01, 0x61, 0x47, 0xfe, 0x3b, 0xd8, 0xb4, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00,
        0x00, 0x04, 0x59, 0x5a,
];

/// `RATINGS`, compressed by `bzip2`.
#[rustfmt::skip]
pub(super) const BZIP2: &[u8] = &[
        0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0xdb, 0x9e, 0x2d, 0x4b, 0x00, 0x00,
        0x22, 0xdd, 0x80, 0x00, 0x10, 0x00, 0x05, 0x7f, 0xe0, 0x00, 0x20, 0x26, 0xa3, 0xdf, 0x00, 0x20,
        0x00, 0x54, 0x44, 0x00, 0x00, 0x00, 0x34, 0x22, 0x9f, 0xa5, 0x0d, 0xa1, 0x8a, 0x68, 0x68, 0x64,
        0x37, 0x91, 0xd6, 0x48, 0x4a, 0x33, 0xdc, 0xb9, 0x82, 0xa2, 0xbb, 0xb0, 0x7a, 0x40, 0xd8, 0x14,
        0x81, 0xc5, 0xe8, 0x14, 0xe6, 0x36, 0x44, 0x69, 0xda, 0xbe, 0x9d, 0x4b, 0xbe, 0xef, 0x82, 0xb0,
        0x4c, 0x3a, 0x65, 0x03, 0x90, 0x26, 0x69, 0xd5, 0x51, 0xf8, 0xbb, 0x92, 0x29, 0xc2, 0x84, 0x86,
        0xdc, 0xf1, 0x6a, 0x58,
];

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
        ("g.csv.xz", XZ.to_vec()),
        ("h", XZ.to_vec()),
        ("i.csv.bz2", BZIP2.to_vec()),
        ("j.csv", BZIP2.to_vec()),
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
    broken("a.csv.xz", half(XZ.to_vec()), "a.csv.xz: broken xz file");
    broken("a.csv.bz2", half(BZIP2.to_vec()), "a.csv.bz2: broken bzip2 file");
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
    let zip = zipped(&[("train.tsv", "user\titem\n0\tx\n0\n"), ("test.tsv", "user\titem\n0\tx\n")]);
    check(&error_of("set.zip", zip, &defaults()), "set.zip/train.tsv:3: ", &["help"]);
    let zip = zipped(&[("a.csv", "1,2\n"), ("b.csv", "1,2\n")]);
    check(&error_of("z.zip", zip, &defaults()), "z.zip: can't tell which of the 2 files", &["a.csv, b.csv"]);
    let two = ["a/train.tsv", "a/test.tsv", "b/train.tsv", "b/test.tsv"].map(|name| (name, "0\t0\n"));
    check(&error_of("z.zip", zipped(&two), &defaults()), "z.zip: can't tell which of the 4 files", &[]);
    let zip = zipped(&[("a.parquet", "PAR1")]);
    check(&error_of("a.zip", zip, &defaults()), "a.zip/a.parquet: ", &["extract it first"]);
}

#[test]
fn how_a_compressed_file_was_read_is_told() {
    let reading = read_text("a.csv.xz", XZ, &defaults()).unwrap().reading.unwrap();
    assert_eq!((reading.compression, &*reading.format), (Some("xz"), "csv"));
    let zip = zipped(&[("inside.csv", RATINGS)]);
    assert_eq!(read_text("a.zip", zip, &defaults()).unwrap().reading.unwrap().compression, Some("zip"));
}

#[test]
fn a_workbook_is_refused_by_name() {
    let zip = zipped(&[("[Content_Types].xml", "<Types/>"), ("xl/workbook.xml", "<workbook/>")]);
    check(&error_of("log.xlsx", zip, &defaults()), "log.xlsx: this is an Excel workbook", &["CSV"]);
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
