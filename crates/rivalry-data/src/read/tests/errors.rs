//! Invalid files: the error states the location, the problem and what to do.

use super::*;

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// The error for a folder with these files, without its path.
fn bundle_error(files: &[(&str, &str)]) -> String {
    let folder = Folder::new();
    for (name, text) in files {
        folder.file(name, text);
    }
    error_at(&folder, folder.path(), &defaults())
}

/// Checks how the error starts and what it contains.
#[track_caller]
pub(super) fn check(error: &str, start: &str, parts: &[&str]) {
    assert!(error.starts_with(start), "{error}");
    for part in parts {
        assert!(error.contains(part), "'{part}' is missing in: {error}");
    }
}

#[test]
fn missing_file() {
    let folder = Folder::new();
    check(
        &error_at(&folder, &folder.path().join("no.csv"), &defaults()),
        "no.csv: can't read: no such file",
        &[],
    );
}

#[test]
fn missing_column() {
    let requested = ReadOptions { user: some("usr_id"), ..defaults() };
    let error = error_of("a.csv", "user_id,item\n1,2\n", &requested);
    check(
        &error,
        "a.csv:1: data.read.user: no column 'usr_id'",
        &["did you mean 'user_id'?", "user_id, item"],
    );
    let error = error_of("a.csv", "user,thing,rating\n1,2,3\n", &defaults());
    check(
        &error,
        "a.csv:1: data.read.item: no item column found",
        &["user, thing, rating", "`data.read.item`"],
    );
    let requested = ReadOptions { rating: some("9"), header: Some(false), ..defaults() };
    check(&error_of("a.csv", "1,2\n", &requested), "a.csv:1: data.read.rating: no column '9'", &["1 to 2"]);
    let error = error_of("a.inter", "user_id:token\tb:token\n1\t2\n", &defaults());
    check(&error, "a.inter:1: data.read.item: no item column", &["user_id, b"]);
}

#[test]
fn wrong_delimiter() {
    let requested = ReadOptions { delimiter: Some(','), ..defaults() };
    let error = error_of("a.csv", "user;item\n1;2\n", &requested);
    check(
        &error,
        "a.csv:1: data.read.delimiter: only one column found with the delimiter ','",
        &["the delimiter seems to be ';'"],
    );
    let error = error_of("a.csv", "user\n1\n", &defaults());
    check(
        &error,
        "a.csv:1: data.read.delimiter: only one column found with the delimiters tab",
        &["set `data.read.delimiter`"],
    );
    let folder = Folder::new();
    folder.file("train.tsv", "user,item\n0,1\n");
    folder.file("test.tsv", "user,item\n0,1\n");
    check(&error_at(&folder, folder.path(), &defaults()), "train.tsv:1: only one column", &["tab"]);
}

#[test]
fn text_in_another_encoding() {
    let error = error_of("a.csv", b"user,item\n1,2\n1,caf\xe9\n", &defaults());
    check(&error, "a.csv:3: byte 0xe9 is not UTF-8 text", &["iconv"]);
    let error = error_of("a.csv", b"\xff\xfeu\0s\0e\0r\0", &defaults());
    check(&error, "a.csv:1: this is UTF-16 text", &["iconv -f UTF-16"]);
    check(&error_of("a.bin", b"1,2\n3,\0", &defaults()), "a.bin:2: found a zero byte", &["text file"]);
}

#[test]
fn rows_with_missing_fields() {
    let error = error_of("a.csv", "user,item,rating\n1,2,3\n\n1,2\n", &defaults());
    check(&error, "a.csv:4: expected 3 fields, found 2 fields", &["','"]);
    check(&error_of("u.data", "1\t2\n", &defaults()), "u.data:1: expected 4 fields, found 2 fields", &[]);
    check(
        &error_of("a.dat", "1::2::3::4\n1::2::3\n", &defaults()),
        "a.dat:2: expected 4 fields, found 3 fields",
        &[],
    );
}

#[test]
fn empty_files() {
    for bytes in ["", "\n \r\n", "\u{feff}"] {
        check(&error_of("a.csv", bytes, &defaults()), "a.csv: the file is empty", &[]);
    }
    check(
        &error_of("a.csv", "user,item\n", &defaults()),
        "a.csv: there is a header but no interaction",
        &["`data.read.header = false`"],
    );
    let folder = Folder::new();
    check(&error_at(&folder, &folder.path().join(""), &defaults()), "", &["no files inside"]);
}

#[test]
fn invalid_ratings_timestamps_and_ids() {
    for rating in ["good", "inf", "1e39"] {
        let error = error_of("a.csv", format!("user,item,stars\n1,2,3\n1,3,{rating}\n"), &defaults());
        check(
            &error,
            &format!("a.csv:3: stars: '{rating}' is not a finite number"),
            &["`data.read.rating`", "`data.read.skip_bad_rows = true`"],
        );
    }
    let error = error_of("a.csv", "user,item,date\n1,2,yesterday\n", &defaults());
    check(&error, "a.csv:2: date: 'yesterday' is not a timestamp", &["`data.read.time`"]);
    check(&error_of("a.csv", "user,item\n1,2\n3, \n", &defaults()), "a.csv:3: item: the id is empty", &[]);
    check(&error_of("a.csv", "1,2\n\"\",3\n", &defaults()), "a.csv:2: column 1 (user): the id is empty", &[]);
}

#[test]
fn an_empty_rating_is_a_fault_only_where_ratings_are_needed() {
    let text = "user,item,stars\n1,2,3\n1,3,\n";
    let RawParts::Whole(records) = read_text("a.csv", text, &defaults()).unwrap().parts else { panic!() };
    assert!(records.rating.unwrap()[1].is_nan());
    let needed = ReadOptions { needs_ratings: true, ..defaults() };
    check(&error_of("a.csv", text, &needed), "a.csv:3: stars: the rating is empty", &["`data.read.rating`"]);
}

#[test]
fn one_column_for_two_roles() {
    let twice = ReadOptions { rating: some("when"), time: some("when"), ..defaults() };
    let error = error_of("a.csv", "user,item,when\n1,2,3\n", &twice);
    check(
        &error,
        "a.csv:1: data.read.time: 'when' is given both as the rating and as the time column",
        &["`data.read.rating` and `data.read.time`"],
    );
}

#[test]
fn files_of_other_programs_are_named() {
    let mut tar = vec![b'a'; 257];
    tar.extend(b"ustar  ");
    check(&error_of("a.tar", tar, &defaults()), "a.tar: this is a tar archive", &["tar -xf"]);
    for (bytes, name) in [
        (&b"SQLite format 3\0"[..], "an SQLite database"),
        (b"ARROW1\0\0", "an Arrow (Feather) file"),
        (b"7z\xbc\xaf\x27\x1c\0", "a 7z archive"),
    ] {
        check(&error_of("a.csv", bytes, &defaults()), &format!("a.csv: this is {name}"), &["help"]);
    }
}

#[test]
fn invalid_dense_ids() {
    let good = ("test.tsv", "user\titem\n0\t1\n");
    for (row, message) in [
        ("-1\t0", "user: the id -1 is negative"),
        ("0\t4294967296", "item: the id 4294967296 exceeds 4294967295"),
        ("0\tx", "item: 'x' is not an integer"),
        ("0\t2", "item: id 2 is not in item_list.tsv, which ends at 1"),
    ] {
        let train = format!("user\titem\n0\t1\n{row}\n");
        let files = [("train.tsv", &*train), good, ("item_list.tsv", "org\tid\na\t0\nb\t1\n")];
        check(&bundle_error(&files), &format!("train.tsv:3: {message}"), &["help"]);
    }
    let error = bundle_error(&[("train.tsv", "x\t1\n0\t1\n"), good]);
    check(&error, "train.tsv:1: column 1 (user): 'x' is not an integer", &[]);
    check(&error_of("a", "0 1 2\n1 -3\n", &defaults()), "a:2: item: the id -3 is negative", &[]);
    check(&error_of("a", "0 1 2\n9999999999 3\n", &defaults()), "a:2: user: the id 9999999999 exceeds", &[]);
}

#[test]
fn invalid_id_lists() {
    for (list, message) in [
        ("org\tid\na\t0\nb\t2\n", ":3: expected number 1, found 2"),
        ("org\tid\na\t0\nb\t0\n", ":3: expected number 1, found 0"),
        ("org\tid\na\t0\na\t1\n", ": the original id 'a' is listed twice"),
        ("org\tid\na\t-1\n", ":2: number: the id -1 is negative"),
        ("org\tid\na\n", ":2: expected an original id and its number"),
        ("org\tid\n", ": there is a header but no id"),
    ] {
        let part = "user\titem\n0\t0\n";
        let files = [("train.tsv", part), ("test.tsv", part), ("user_list.tsv", list)];
        check(&bundle_error(&files), &format!("user_list.tsv{message}"), &["help"]);
    }
}

#[test]
fn unknown_ambiguous_and_mismatched_formats() {
    let requested = |name: &str| ReadOptions { format: some(name), ..defaults() };
    check(
        &error_of("a.csv", "1,2\n", &requested("cvs")),
        "data.read.format: unknown format 'cvs'",
        &["did you mean 'csv'?"],
    );
    let error = error_of("a", "1 2 3 4 5\n6 7 8 9 0\n", &defaults());
    check(&error, "a: ambiguous format: csv or lightgcn", &["`data.read.format`", "recbole", "parquet"]);
    check(
        &error_of("a", "hello\nworld\n", &defaults()),
        "a: unknown format",
        &["`data.read.format`", "csv ("],
    );
    check(
        &error_of("a", "1,2\n", &requested("parquet")),
        "a: data.read.format: the format 'parquet' requires a Parquet file",
        &[],
    );
    check(
        &error_of("a", "1,2\n", &requested("benchmark")),
        "a: data.read.format: the format 'benchmark' requires a folder",
        &[],
    );
    let unsupported = ReadOptions { user: some("1"), ..requested("lightgcn") };
    check(
        &error_of("a", "1 2\n", &unsupported),
        "data.read.user: the format 'lightgcn' has no such option",
        &["csv"],
    );
    let error = bundle_error(&[("a.csv", "1,2\n"), ("b.csv", "1,2\n")]);
    check(&error, "", &["can't tell which of the 2 files inside to read: a.csv, b.csv"]);
    let options = ReadOptions { delimiter: Some(','), header: Some(true), ..defaults() };
    let folder = Folder::new();
    folder.file("train.tsv", "0\t0\n");
    folder.file("test.tsv", "0\t0\n");
    check(
        &error_at(&folder, folder.path(), &options),
        "train.tsv:1: data.read.delimiter: only one column",
        &["seems to be tab"],
    );
}

#[test]
fn files_larger_than_the_memory_limit() {
    let folder = Folder::new();
    let path = folder.file("a.csv", "user,item\n1,2\n");
    let limited = |bytes| super::super::read(&path, &defaults(), MemoryLimit::bytes(bytes));
    let error = limited(10).unwrap_err().to_string();
    check(
        &error,
        "",
        &["a.csv: reading it needs about 14 bytes of memory, but only 10 bytes", "--max-memory"],
    );
    assert!(limited(14).is_ok());
}
