//! What is tolerated, and told: comments, decimal commas, bad rows.

use super::errors::check;
use super::*;
use crate::read::{Reading, SkippedRow};

fn reading(data: &RawData) -> &Reading {
    data.reading.as_ref().unwrap()
}

#[test]
fn comments_are_left_out_and_counted() {
    let text = "# exported on Monday\n# by nobody, really\nuser,item\n1,2\n# half-time, so far\n3,4\n";
    let data = read_text("a.csv", text, &defaults()).unwrap();
    assert_eq!((whole(&data), reading(&data).comments), (vec!["1 2".to_owned(), "3 4".to_owned()], 3));
    // Their lines still count.
    check(&error_of("a.csv", "# one\nuser,item\n1,2\n3\n", &defaults()), "a.csv:4: expected 2 fields", &[]);
    // The last comment may be the header.
    let data = read_text("edges.txt", "# Nodes: 3\n# userId\titemId\n7\t8\n", &defaults()).unwrap();
    assert_eq!((whole(&data), reading(&data).header), (vec!["7 8".to_owned()], Some(true)));
    let data = read_text("a.txt", "# lists\n0 1 2\n1 0\n", &defaults()).unwrap();
    assert_eq!(whole(&data), ["0 1", "0 2", "1 0"]);
}

#[test]
fn a_hash_may_begin_an_id() {
    let data = read_text("tags.csv", "user,item\n#a,x\nb,#y\n", &defaults()).unwrap();
    assert_eq!(whole(&data), ["#a x", "b #y"]);
    let data = read_text("tags.csv", "#a,x\n#b,y\n", &defaults()).unwrap();
    assert_eq!(whole(&data), ["#a x", "#b y"]);
}

#[test]
fn decimal_commas_are_read_as_points() {
    let data = read_text("a.csv", "user;item;rating\n1;2;4,5\n1;3;3\n", &defaults()).unwrap();
    assert_eq!(whole(&data), ["1 2 4.5", "1 3 3"]);
    let error = error_of(
        "a.csv",
        "user;item;plays\n1;2;1,000\n",
        &ReadOptions { rating: Some("plays".into()), ..defaults() },
    );
    check(&error, "a.csv:2: plays: '1,000' may have a decimal comma or a thousands separator", &[]);
}

#[test]
fn bad_rows_are_left_out_on_request_and_listed() {
    let skip = ReadOptions { skip_bad_rows: true, ..defaults() };
    let text = "user,item,rating\n1,2,3\n1,,4\n2,3,x\n2\n3,4,5\n";
    let data = read_text("a.csv", text, &skip).unwrap();
    assert_eq!(whole(&data), ["1 2 3", "3 4 5"]);
    assert_eq!(data.users.iter().collect::<Vec<_>>(), ["1", "3"], "a bad row adds no user");
    let skipped = &reading(&data).skipped;
    let row = |line, reason: &str| SkippedRow { line, reason: reason.to_owned() };
    assert_eq!(skipped.count, 3);
    assert_eq!(
        skipped.first,
        [
            row(3, "item: the id is empty"),
            row(4, "rating: 'x' is not a finite number"),
            row(5, "expected 3 fields, found 1 field")
        ]
    );
    assert!(
        skipped.to_string().starts_with("skipped 3 rows that can't be read\n  line 3: item"),
        "{skipped}"
    );

    let data = read_text("a.jsonl", "{\"user\": 1, \"item\": 2}\n{\"user\"\n{\"user\": 3}\n", &skip).unwrap();
    assert_eq!((whole(&data), reading(&data).skipped.count), (vec!["1 2".to_owned()], 2));
    let data = read_text(
        "a.txt",
        "0 1 2\n1 x\n2 0\n",
        &ReadOptions { format: Some("lightgcn".into()), ..skip.clone() },
    )
    .unwrap();
    assert_eq!(
        (whole(&data), reading(&data).skipped.count),
        (vec!["0 1".to_owned(), "0 2".into(), "2 0".into()], 1)
    );
    let error = error_of("a.csv", "user,item\n,1\n,2\n", &skip);
    check(&error, "a.csv:2: none of the 2 rows can be read", &["the id is empty"]);
}

#[test]
fn how_a_file_was_read_is_told() {
    let data = read_text(
        "a.txt",
        "\u{feff}who;what;when\n1;2;3\n",
        &ReadOptions {
            user: Some("who".into()),
            item: Some("what".into()),
            time: Some("3".into()),
            ..defaults()
        },
    )
    .unwrap();
    let reading = reading(&data);
    assert_eq!((&*reading.format, reading.encoding), ("csv", Some("UTF-8 with byte-order mark")));
    assert_eq!((reading.delimiter.as_deref(), reading.header), (Some("';'"), Some(true)));
    let columns: Vec<(&str, &str)> = reading.columns.iter().map(|c| (c.role, &*c.name)).collect();
    assert_eq!(columns, [("user", "who"), ("item", "what"), ("time", "when")]);
    let data = read_text("a.csv", "1,2\n3,4\n", &defaults()).unwrap();
    assert_eq!(data.reading.unwrap().columns[1].name, "2");
}

#[test]
fn a_file_in_memory_is_read_like_one_on_disk() {
    let read = |bytes: &[u8]| {
        super::super::read_bytes(
            Path::new("standard input"),
            bytes.to_vec(),
            &defaults(),
            MemoryLimit::default(),
        )
    };
    assert_eq!(whole(&read(b"user,item\n1,2\n").unwrap()), ["1 2"]);
    assert!(
        read(b"user,item\n1\n").unwrap_err().to_string().starts_with("standard input:2: expected 2 fields")
    );
    assert!(read(b"PAR1....").unwrap_err().to_string().contains("from disk only"));
}
