//! Bad files: the error says where, what and what to do.

use super::*;

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// The error must begin and contain as said.
#[track_caller]
fn check(error: &str, start: &str, parts: &[&str]) {
    assert!(error.starts_with(start), "{error}");
    for part in parts {
        assert!(error.contains(part), "'{part}' is missing in: {error}");
    }
}

#[test]
fn a_missing_file() {
    let place = Place::new();
    check(&fault_at(&place, &place.path().join("no.csv"), &usual()), "no.csv: can't read: no such file", &[]);
}

#[test]
fn a_missing_column() {
    let asked = ReadOptions { user: some("usr_id"), ..usual() };
    let error = fault("a.csv", "user_id,item\n1,2\n", &asked);
    check(&error, "a.csv:1: user: no column 'usr_id'", &["did you mean 'user_id'?", "user_id, item"]);
    let error = fault("a.csv", "user,thing,rating\n1,2,3\n", &usual());
    check(&error, "a.csv:1: item: no item column found", &["user, thing, rating", "`item`"]);
    let asked = ReadOptions { rating: some("9"), header: Some(false), ..usual() };
    check(&fault("a.csv", "1,2\n", &asked), "a.csv:1: rating: no column '9'", &["1 to 2"]);
    let error = fault("a.inter", "user_id:token\tb:token\n1\t2\n", &usual());
    check(&error, "a.inter:1: item: no item column", &["user_id, b"]);
}

#[test]
fn a_wrong_delimiter() {
    let asked = ReadOptions { delimiter: Some(','), ..usual() };
    let error = fault("a.csv", "user;item\n1;2\n", &asked);
    check(&error, "a.csv:1: delimiter: only one column found with the delimiter ','", &["';' seems right"]);
    let error = fault("a.csv", "user\n1\n", &usual());
    check(&error, "a.csv:1: delimiter: only one column found with the delimiters tab", &["set `delimiter`"]);
    let place = Place::new();
    place.file("train.tsv", "user,item\n0,1\n");
    place.file("test.tsv", "user,item\n0,1\n");
    check(&fault_at(&place, place.path(), &usual()), "train.tsv:1: only one column", &["tab"]);
}

#[test]
fn text_that_is_not_utf8() {
    let error = fault("a.csv", b"user,item\n1,2\n1,caf\xe9\n", &usual());
    check(&error, "a.csv:3: byte 0xe9 is not UTF-8 text", &["iconv"]);
    let error = fault("a.csv", b"\xff\xfeu\0s\0e\0r\0", &usual());
    check(&error, "a.csv:1: this is UTF-16 text", &["iconv -f UTF-16"]);
    check(&fault("a.tar", b"train.tsv\0\0\0ustar", &usual()), "a.tar:1: a zero byte", &[".tar"]);
}

#[test]
fn ragged_rows() {
    let error = fault("a.csv", "user,item,rating\n1,2,3\n\n1,2\n", &usual());
    check(&error, "a.csv:4: 3 fields expected, 2 fields found", &["','"]);
    check(&fault("u.data", "1\t2\n", &usual()), "u.data:1: 4 fields expected, 2 fields found", &[]);
    check(&fault("a.dat", "1::2::3::4\n1::2::3\n", &usual()), "a.dat:2: 4 fields expected, 3 fields", &[]);
}

#[test]
fn nothing_inside() {
    for bytes in ["", "\n \r\n", "\u{feff}"] {
        check(&fault("a.csv", bytes, &usual()), "a.csv: the file is empty", &[]);
    }
    check(
        &fault("a.csv", "user,item\n", &usual()),
        "a.csv: there is a header but no interaction",
        &["`header`"],
    );
    check(&fault("a.gz", gzipped(""), &usual()), "a.gz: the file is empty", &[]);
    check(&fault("a.zip", zipped(&[]), &usual()), "a.zip: no files inside", &[]);
    let place = Place::new();
    check(&fault_at(&place, &place.path().join(""), &usual()), "", &["no files inside"]);
}

#[test]
fn ratings_times_and_ids_that_are_none() {
    for rating in ["good", "NaN", "inf", "1e39", ""] {
        let error = fault("a.csv", format!("user,item,stars\n1,2,3\n1,3,{rating}\n"), &usual());
        check(&error, &format!("a.csv:3: stars: '{rating}' is not a finite number"), &["`rating`"]);
    }
    let error = fault("a.csv", "user,item,date\n1,2,yesterday\n", &usual());
    check(&error, "a.csv:2: date: 'yesterday' is not a time", &["`time`"]);
    check(&fault("a.csv", "user,item\n1,2\n3, \n", &usual()), "a.csv:3: item: the id is empty", &[]);
    check(&fault("a.csv", "1,2\n\"\",3\n", &usual()), "a.csv:2: column 1 (user): the id is empty", &[]);
}

#[test]
fn ids_that_are_not_dense_numbers() {
    let good = ("test.tsv", "user\titem\n0\t1\n");
    for (row, message) in [
        ("-1\t0", "user: the id -1 is negative"),
        ("0\t4294967296", "item: the id 4294967296 is beyond 4294967295"),
        ("0\tx", "item: 'x' is not a whole number"),
        ("0\t2", "item: id 2 is not in item_list.tsv, which ends at 1"),
    ] {
        let train = format!("user\titem\n0\t1\n{row}\n");
        let zip = zipped(&[("train.tsv", &train), good, ("item_list.tsv", "org\tid\na\t0\nb\t1\n")]);
        check(
            &fault("gowalla.zip", zip, &usual()),
            &format!("gowalla.zip/train.tsv:3: {message}"),
            &["help"],
        );
    }
    let zip = zipped(&[("train.tsv", "x\t1\n"), good]);
    check(
        &fault("s.zip", zip, &usual()),
        "s.zip/train.tsv:1: column 1 (user): 'x' is not a whole number",
        &[],
    );
    check(&fault("a", "0 1 2\n1 -3\n", &usual()), "a:2: item: the id -3 is negative", &[]);
    check(&fault("a", "0 1 2\n9999999999 3\n", &usual()), "a:2: user: the id 9999999999 is beyond", &[]);
}

#[test]
fn id_lists_with_gaps_repeats_or_holes() {
    for (list, message) in [
        ("org\tid\na\t0\nb\t2\n", ":3: number 2 found where 1 is due"),
        ("org\tid\na\t0\nb\t0\n", ":3: number 0 found where 1 is due"),
        ("org\tid\na\t0\na\t1\n", ": the original id 'a' is listed twice"),
        ("org\tid\na\t-1\n", ":2: number: the id -1 is negative"),
        ("org\tid\na\n", ":2: an original id and its number expected"),
        ("org\tid\n", ": there is a header but no id"),
    ] {
        let part = "user\titem\n0\t0\n";
        let zip = zipped(&[("train.tsv", part), ("test.tsv", part), ("user_list.tsv", list)]);
        check(&fault("s.zip", zip, &usual()), &format!("s.zip/user_list.tsv{message}"), &["help"]);
    }
}

#[test]
fn wrappings_cut_short() {
    let text: String = (0..5000).map(|n| format!("{n},{}\n", n * n)).collect();
    let half = |bytes: Vec<u8>| bytes[..bytes.len() / 2].to_vec();
    check(
        &fault("a.csv.gz", half(gzipped(&text)), &usual()),
        "a.csv.gz: broken gzip file",
        &["download it again"],
    );
    let zst = zstd::encode_all(text.as_bytes(), 3).unwrap();
    check(&fault("a.csv.zst", half(zst), &usual()), "a.csv.zst: broken zstd file", &["download it again"]);
    let zip = zipped(&[("a.csv", &text)]);
    check(&fault("a.zip", half(zip.clone()), &usual()), "a.zip: broken zip file", &["download it again"]);
    let mut flipped = zip;
    flipped[2000] ^= 0x55;
    check(&fault("a.zip", flipped, &usual()), "a.zip/a.csv: broken zip file", &["download it again"]);
}

#[test]
fn formats_that_are_unknown_unclear_or_unfit() {
    let asked = |name: &str| ReadOptions { format: some(name), ..usual() };
    check(&fault("a.csv", "1,2\n", &asked("cvs")), "format: unknown format 'cvs'", &["did you mean 'csv'?"]);
    let error = fault("a", "1 2 3 4 5\n6 7 8 9 0\n", &usual());
    check(&error, "a: can't tell whether this is csv or lightgcn", &["`format`", "recbole", "parquet"]);
    check(
        &fault("a", "hello\nworld\n", &usual()),
        "a: can't tell what format this is",
        &["`format`", "csv ("],
    );
    check(
        &fault("a", "1,2\n", &asked("parquet")),
        "a: format: the format 'parquet' needs a Parquet file",
        &[],
    );
    check(&fault("a", "1,2\n", &asked("benchmark")), "a: format: the format 'benchmark' needs a folder", &[]);
    let unheeded = ReadOptions { user: some("1"), ..asked("lightgcn") };
    check(&fault("a", "1 2\n", &unheeded), "user: the format 'lightgcn' has no such option", &["csv"]);
    let zip = zipped(&[("a.csv", "1,2\n"), ("b.csv", "1,2\n")]);
    check(&fault("z.zip", zip, &usual()), "z.zip: can't tell which of the 2 files", &["a.csv, b.csv"]);
    let part = "0\t0\n";
    let two = ["a/train.tsv", "a/test.tsv", "b/train.tsv", "b/test.tsv"].map(|name| (name, part));
    check(&fault("z.zip", zipped(&two), &usual()), "z.zip: can't tell which of the 4 files", &[]);
}
