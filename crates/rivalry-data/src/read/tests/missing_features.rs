//! Builds without a feature refuse the corresponding files with an error that names it.

use super::errors::check;
use super::*;

#[cfg(not(feature = "archives"))]
#[test]
fn compressed_files_without_the_feature_archives() {
    let files: [(&str, &[u8]); 5] = [
        ("gzip", b"\x1f\x8b\x08"),
        ("zstd", b"\x28\xb5\x2f\xfd"),
        ("xz", b"\xfd7zXZ\0"),
        ("bzip2", b"BZh9\x31\x41\x59\x26\x53\x59"),
        ("zip", b"PK\x03\x04"),
    ];
    for (kind, bytes) in files {
        let start =
            format!("a: this build can't read {kind} files: it was built without the feature `archives`");
        check(&error_of("a", bytes, &defaults()), &start, &["decompress it first"]);
    }
    let folder = Folder::new();
    folder.file("train.tsv.gz", b"\x1f\x8b\x08");
    folder.file("test.tsv", "0\t0\n");
    check(&error_at(&folder, folder.path(), &defaults()), "train.tsv.gz: this build can't", &["`archives`"]);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_files_without_the_feature_parquet() {
    let start = "a.parquet: this build can't read Parquet files: it was built without the feature `parquet`";
    check(&error_of("a.parquet", "PAR1", &defaults()), start, &["convert it to CSV"]);
}
