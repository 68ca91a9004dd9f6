//! Arbitrary and corrupt files must never cause a panic.

use proptest::prelude::*;

use super::super::FORMATS;
use super::*;

/// Reads the bytes as every format, and under names that select different readers.
fn survive(bytes: &[u8]) {
    let folder = Folder::new();
    for name in ["a", "a.csv", "a.inter", "u.data", "ratings.dat", "a.parquet"] {
        let _ = read(&folder.file(name, bytes), &defaults());
    }
    let path = folder.file("b", bytes);
    for format in FORMATS {
        let _ = read(&path, &ReadOptions { format: Some(format.name.to_owned()), ..defaults() });
    }
    for list in ["user_list.tsv", "train.tsv"] {
        let bundle = Folder::new();
        bundle.file("train.tsv", "0\t0\n");
        bundle.file("test.tsv", "0\t0\n");
        bundle.file(list, bytes);
        let _ = read(bundle.path(), &defaults());
    }
}

/// `bytes` with some of them replaced.
#[cfg(any(feature = "archives", feature = "parquet"))]
fn corrupt(bytes: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4).prop_map(move |changes| {
        let mut bytes = bytes.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        survive(&bytes);
    }

    #[test]
    fn any_text_that_looks_like_a_table(text in "(user|item|rating|[0-9a-zé\"-]{0,4}|[,;:|\t\r\n ]){0,60}") {
        survive(text.as_bytes());
    }

    #[test]
    fn any_quotes_and_ends(text in "[\"a,\r\n é]{0,20}") {
        survive(text.as_bytes());
    }

    #[cfg(feature = "archives")]
    #[test]
    fn a_corrupt_zip(bytes in corrupt(archives::zipped(&[("train.tsv", "0\t1\n"), ("test.tsv", "0\t1\n")]))) {
        survive(&bytes);
    }

    #[cfg(feature = "archives")]
    #[test]
    fn a_corrupt_gzip_file(bytes in corrupt(archives::gzipped("user,item\n1,2\n"))) {
        survive(&bytes);
    }

    #[cfg(feature = "archives")]
    #[test]
    fn a_corrupt_xz_file(bytes in corrupt(archives::XZ.to_vec())) {
        survive(&bytes);
    }

    #[cfg(feature = "archives")]
    #[test]
    fn a_corrupt_bzip2_file(bytes in corrupt(archives::BZIP2.to_vec())) {
        survive(&bytes);
    }

    #[test]
    fn any_text_that_looks_like_json(text in "(\\{|\\}|\\[|\\]|\"user\"|\"item\"|[0-9]|[:,# \n]){0,40}") {
        survive(text.as_bytes());
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn a_corrupt_parquet_file(bytes in corrupt(parquet::sample())) {
        survive(&bytes);
    }
}
