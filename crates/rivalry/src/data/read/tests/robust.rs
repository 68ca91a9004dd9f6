//! No file, however broken, may do more than return an error.

use proptest::prelude::*;

use super::super::FORMATS;
use super::*;

/// Reads the bytes as every format and under names that lead to different readers.
fn survive(bytes: &[u8]) {
    let place = Place::new();
    for name in ["a", "a.csv", "a.inter", "u.data", "ratings.dat", "a.parquet"] {
        let _ = read(&place.file(name, bytes), &usual());
    }
    let path = place.file("b", bytes);
    for format in FORMATS {
        let _ = read(&path, &ReadOptions { format: Some(format.name.to_owned()), ..usual() });
    }
    for list in ["user_list.tsv", "train.tsv"] {
        let bundle = Place::new();
        bundle.file("train.tsv", "0\t0\n");
        bundle.file("test.tsv", "0\t0\n");
        bundle.file(list, bytes);
        let _ = read(bundle.path(), &usual());
    }
}

/// `bytes` with some of them replaced.
fn damaged(bytes: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
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

    #[test]
    fn a_damaged_zip(bytes in damaged(zipped(&[("train.tsv", "0\t1\n"), ("test.tsv", "0\t1\n")]))) {
        survive(&bytes);
    }

    #[test]
    fn a_damaged_gzip_file(bytes in damaged(gzipped("user,item\n1,2\n"))) {
        survive(&bytes);
    }

    #[test]
    fn a_damaged_parquet_file(bytes in damaged(parquet::sample())) {
        survive(&bytes);
    }
}
