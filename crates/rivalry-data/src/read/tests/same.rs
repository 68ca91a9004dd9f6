//! Reading on all threads, a block at a time, gives what reading row by row gives: the same data, the same errors.

use proptest::prelude::*;

use super::super::parallel::Sizes;
use super::super::source::Source;
use super::super::stream::{Stream, StreamSizes};
use super::super::{read_from_head, read_sized};
use super::*;

/// From a few bytes at a time to everything at once.
const SIZES: [(usize, usize, usize); 5] =
    [(1500, 1, 1), (1800, 100, 7), (2500, 700, 90), (usize::MAX, 5, 1), (usize::MAX, 300, 64)];

/// What a file is read as, in full, or the error.
fn outcome(path: &Path, options: &ReadOptions, (head, block, chunk): (usize, usize, usize)) -> String {
    let raw = read_sized(path, options, MemoryLimit::default(), Sizes { head, block, chunk });
    // NaN is not equal to itself, but is written in the same way.
    raw.map_or_else(|error| error.to_string(), |raw| format!("{raw:?}"))
}

/// What a table is read as some rows at a time, or the error; `None` if it isn't read in that way.
fn streamed(path: &Path, options: &ReadOptions, block: usize) -> Option<crate::Result<RawData>> {
    let stream = match Stream::open(path, options) {
        Ok(stream) => stream?,
        Err(error) => return Some(Err(error)),
    };
    let memory = MemoryLimit::default();
    let sizes = StreamSizes { block, ids: usize::MAX, numbers: 50, rows: usize::MAX, memory };
    let mut all = stream.no_records();
    let read = stream.read(options, sizes, &mut |records, (done, total)| {
        assert!(done <= total && !records.user.is_empty());
        all.extend(records);
        Ok(())
    });
    let raw = |read: crate::read::stream::Streamed| RawData {
        users: read.users,
        items: read.items,
        parts: RawParts::Whole(all),
        notes: read.notes,
        reading: Some(read.reading),
    };
    Some(read.map(raw))
}

#[track_caller]
fn check(name: &str, bytes: &[u8]) {
    let named = |user: &str, rating: &str| ReadOptions {
        user: Some(user.to_owned()),
        rating: Some(rating.to_owned()),
        ..defaults()
    };
    let options = [
        defaults(),
        ReadOptions { skip_bad_rows: true, ..defaults() },
        ReadOptions { skip_bad_rows: true, needs_ratings: true, header: Some(false), ..defaults() },
        ReadOptions { skip_bad_rows: true, delimiter: Some(';'), ..defaults() },
        ReadOptions { skip_bad_rows: true, ..named("2", "") },
    ];
    check_with(name, bytes, &options, &SIZES);
}

#[track_caller]
fn check_with(name: &str, bytes: &[u8], options: &[ReadOptions], sizes: &[(usize, usize, usize)]) {
    let folder = Folder::new();
    let path = folder.file(name, bytes);
    for options in options {
        let expected = outcome(&path, options, (usize::MAX, 1 << 20, 0));
        for &sizes in sizes {
            assert_eq!(outcome(&path, options, sizes), expected, "{sizes:?} {options:?}");
        }
        for block in [1000, 2500] {
            match streamed(&path, options, block) {
                Some(Ok(raw)) => assert_eq!(format!("{raw:?}"), expected, "{block} {options:?}"),
                // The first error of a block may be found before that of the whole file.
                Some(Err(_)) => assert!(!expected.starts_with("RawData"), "{block} {options:?} {expected}"),
                None => {}
            }
        }
    }
}

/// A field: mostly an ordinary one.
fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        20 => "[1-9][0-9]{0,2}",
        6 => "[a-c]{1,3}",
        1 => "0[0-9]{0,2}|[1-9][0-9]{9,10}|-?[0-9]\\.[0-9]{0,2}|[0-9],[0-9]",
        1 => "|#[0-9]?|é|[ab] [ab]?| 7|8 |\t9",
        1 => "\"[a, \"\n]{0,3}\"|\"\"|\"|a\"b|\"a\"\"b\"|\"12\"",
        1 => "2024-05-0[1-9]|1e3|NaN|inf|x|\r",
    ]
}

/// A table of which most rows are ordinary.
fn table(delimiter: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let row = prop_oneof![
        40 => prop::collection::vec("[1-9][0-9]{0,3}", 4),
        2 => prop::collection::vec(field(), 4),
        1 => prop::collection::vec(field(), 0..6),
    ];
    let end = prop_oneof![12 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\n\n"), 1 => Just(" \n")];
    let first = prop_oneof![
        Just(""),
        Just("user,item,rating,time\n"),
        Just("# a comment\n"),
        Just("\u{feff}who,item,x,time\n")
    ];
    let strange = prop_oneof![9 => Just(vec![]), 1 => Just(vec![0]), 1 => Just(vec![0xff])];
    let rows = prop::collection::vec((row, end), 0..320);
    (first, rows, strange, any::<prop::sample::Index>()).prop_map(move |(first, rows, strange, at)| {
        let mut text = first.replace(',', delimiter);
        for (fields, end) in rows {
            text += &fields.join(delimiter);
            text += end;
        }
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len() + 1);
        bytes.splice(at..at, strange);
        bytes
    })
}

/// Numbers at first, anything later: the ids change from numbers to text half-way.
fn changing_table() -> impl Strategy<Value = Vec<u8>> {
    (prop::collection::vec("[1-9][0-9]?", 900), prop::collection::vec(field(), 0..40)).prop_map(
        |(numbers, fields)| {
            let row = |fields: &[String]| fields.join("\t") + "\n";
            let rows = numbers.chunks(3).chain(fields.chunks(3)).map(row);
            rows.collect::<String>().into_bytes()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tables_of_commas(bytes in table(",")) {
        check("a.csv", &bytes);
    }

    #[test]
    fn tables_of_tabs_without_quotes(bytes in table("\t")) {
        check("u.data", &bytes);
        check("a.inter", &bytes);
    }

    #[test]
    fn tables_of_blanks(bytes in table(" ")) {
        check("a.txt", &bytes);
    }

    #[test]
    fn tables_of_two_colons(bytes in table("::")) {
        check("ratings.dat", &bytes);
    }

    #[test]
    fn tables_of_semicolons(bytes in table(";")) {
        check("a.csv", &bytes);
    }

    #[test]
    fn ids_that_are_text_after_all(bytes in changing_table()) {
        check("a.tsv", &bytes);
    }
}

#[test]
fn what_the_fuzzer_found() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (folder, names) in
        [("csv", &["a.csv", "u.data", "ratings.dat"][..]), ("inter", &["a.inter"]), ("adjacency", &["a.txt"])]
    {
        for entry in fs::read_dir(corpus.join(folder)).unwrap() {
            let bytes = fs::read(entry.unwrap().path()).unwrap();
            let options = [defaults(), ReadOptions { skip_bad_rows: true, ..defaults() }];
            names.iter().for_each(|name| check_with(name, &bytes, &options, &SIZES[3..]));
            // Long enough for its first lines to be looked at alone.
            let long = [&bytes[..], b"\n"].concat().repeat(210);
            check_with(names[0], &long, &options[1..], &[(long.len() - 1, 100, 7)]);
        }
    }
}

#[test]
fn rows_that_span_blocks_keep_their_line_numbers() {
    let mut text = "user,item\n".to_owned();
    for n in 0..300 {
        text += &format!("{n},\"two\nlines\"\n");
    }
    text += "3\n";
    check("a.csv", text.as_bytes());
    let plain = (0..600).map(|n| format!("{n},{}\n", n % 7)).collect::<String>();
    check("a.csv", (plain.clone() + &text).as_bytes());
    let folder = Folder::new();
    let error = outcome(&folder.file("a.csv", plain + "1,2,3\n"), &defaults(), SIZES[1]);
    assert!(error.contains("a.csv:601: expected 2 fields, found 3 fields"), "{error}");
}

#[test]
fn large_files_are_read_a_block_at_a_time() {
    let text = (0..2000).map(|n| format!("{},{}\n", n % 91, n % 17)).collect::<String>();
    let folder = Folder::new();
    let path = folder.file("a.csv", &text);
    let sizes = Sizes { head: 3000, block: 1000, chunk: 100 };
    let source = Source::open(&path, MemoryLimit::default(), sizes).unwrap();
    assert!(source.is_head());
    let raw = read_from_head(&source, &path, None, &defaults()).unwrap().unwrap();
    assert_eq!(whole(&raw).len(), 2000);
}
