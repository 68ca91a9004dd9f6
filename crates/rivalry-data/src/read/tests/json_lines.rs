//! JSON lines.

use super::errors::check;
use super::*;

const LINES: &str = r#"{"reviewerID": "A1", "asin": "B7", "overall": 5.0, "unixReviewTime": 1000, "helpful": [1, 2]}

{"asin": 9, "overall": null, "reviewerID": " A2 ", "unixReviewTime": "1970-01-02", "note": {"user": 3}}
"#;

#[test]
fn one_object_per_line_in_any_order_whatever_the_name() {
    for name in ["reviews.json", "a.jsonl", "a.csv", "a"] {
        let data = read_text(name, LINES, &defaults()).unwrap();
        assert_eq!(whole(&data), ["A1 B7 5 @1000", "A2 9 NaN @86400"], "{name}");
        assert_eq!(data.reading.unwrap().format, "jsonl");
    }
    let options = ReadOptions { item: Some("thing".to_owned()), ..defaults() };
    let data = read_text("a.jsonl", r#"{"thing": "x", "user": 1}"#, &options).unwrap();
    assert_eq!(whole(&data), ["1 x"]);
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let bad =
        |line: &str| error_of("a.jsonl", format!("{{\"user\": 1, \"item\": 2}}\n{line}\n"), &defaults());
    check(&bad(r#"{"user": 1}"#), "a.jsonl:2: item: the id is empty", &[]);
    check(
        &bad(r#"{"user": 1, "item": true}"#),
        "a.jsonl:2: item: expected text or a number, found true or false",
        &[],
    );
    check(&bad(r#"{"user": 1, "item": 2"#), "a.jsonl:2: not a JSON object: EOF", &["one object per line"]);
    check(
        &error_of("a.json", r#"[{"user": 1}]"#, &defaults()),
        "a.json: this is one JSON array",
        &["jq -c '.[]'"],
    );
    check(
        &error_of("a.json", "{\n  \"user\": 1\n}\n", &defaults()),
        "a.json:1: not a JSON object",
        &["jq -c ."],
    );
    let error = error_of("a.json", r#"{"usr": 1, "item": 2}"#, &defaults());
    check(
        &error,
        "a.json: data.read.user: no user column found",
        &["did you mean 'usr'?", "`data.read.user`"],
    );
}
