//! How files are read, what the user is told about it, and how errors name what the user gave.

use crate::support::{SMALL, World, holds, log};

#[test]
fn errors_name_the_flags_of_the_command() {
    let world = World::with_log();
    world.write("odd.csv", &log().replace("user,item,rating,time", "who,thing,stars,moment"));
    let stats = |args: &[&str]| world.fails(2, &[&["data", "stats", "odd.csv"], args].concat());
    let error = "odd.csv:1: --user-col: no user column and no item column found";
    holds(&stats(&[]), &[error, "who, thing, stars, moment; choose them with --user-col and --item-col"]);
    let error = stats(&["--user-col", "who", "--item-col", "thng"]);
    holds(&error, &["--item-col: no column 'thng'", "did you mean 'thing'?", "--item-col"]);
    let columns = ["--user-col", "who", "--item-col", "thing"];
    let error = stats(&[&columns[..], &["--split", "time"]].concat());
    holds(&error, &["--split: this split needs timestamps", "--time-col", "--split random"]);
    let error = stats(&[&columns[..], &["--rating-col", "moment", "--time-col", "moment"]].concat());
    holds(
        &error,
        &["--time-col: 'moment' is given both as the rating and as the time column", "--rating-col and"],
    );
    let error = world.fails(2, &["train", "--data", "log.csv", "--test", "1.5"]);
    holds(&error, &["--test: 1.5 is not a fraction above 0 and below 1"]);
    let error =
        world.fails(2, &["train", "--data", "log.csv", "--split", "none", "--set", "train.select=test"]);
    holds(&error, &["--set train.select=last", "--split random"]);
}

#[test]
fn errors_name_the_keys_of_a_config_file() {
    let world = World::with_log();
    world.write("c.toml", "[data]\nsource = 'log.csv'\n[data.read]\nitem = 'thing'\n");
    let error = world.fails(2, &["train", "--config", "c.toml"]);
    holds(&error, &["data.read.item: no column 'thing'", "`data.read.item`"]);
}

#[test]
fn stats_tell_how_a_file_is_read_and_need_no_split() {
    let world = World::new();
    world.write("log.csv", "# from the shop\nuser;item;rating\nann;tea;4,5\nbob;milk;\n");
    let (out, _) = world.ok(&["data", "stats", "log.csv"]);
    holds(
        &out,
        &[
            "csv, UTF-8, delimiter ';', with a header",
            "rating = rating",
            "first rows",
            "4.5",
            "1 comment line",
        ],
    );
    assert!(!out.contains("training") && !out.contains("test"), "{out}");
    let stats = world.json(&["data", "stats", "log.csv", "--json"]);
    assert_eq!((&stats["train"], &stats["test"]), (&2.into(), &0.into()));
    assert_eq!(stats["reading"]["delimiter"], "';'");
    assert_eq!(stats["reading"]["columns"][2]["name"], "rating");
    assert_eq!(stats["first_rows"][1], serde_json::json!({"user": "bob", "item": "milk"}));
    let error = world.fails(2, &["data", "stats", "log.csv", "--min-rating", "4"]);
    holds(&error, &["log.csv:4: rating: the rating is empty", "--skip-bad-rows", "--rating-col"]);
}

#[test]
fn stats_name_the_columns_that_are_not_used() {
    let world = World::new();
    world.write("log.csv", "order,customer,sku,bought_at\n1,ann,tea,2026-01-03\n2,bob,milk,2026-01-04\n");
    let (out, _) = world.ok(&["data", "stats", "log.csv", "--user-col", "customer"]);
    holds(&out, &["user = customer, item = sku", "not used           order, bought_at\n"]);
    let columns = ["--user-col", "customer", "--time-col", "bought_at"];
    let stats = world.json(&[&["data", "stats", "log.csv", "--json"], &columns[..]].concat());
    assert_eq!(stats["reading"]["unused_columns"], serde_json::json!(["order"]));
}

#[test]
fn a_test_fraction_implies_a_random_split() {
    let world = World::with_log();
    let stats =
        |args: &[&str]| world.json(&[&["data", "stats", "log.csv", "--json"], args].concat())["test"].clone();
    assert_eq!(stats(&["--test", "0.4"]), stats(&["--split", "random", "--test", "0.4"]));
    assert_eq!(stats(&["--test", "0.4"]), 120);
    let error = world.fails(2, &["data", "stats", "log.csv", "--split", "leave-last", "--test", "0.4"]);
    holds(&error, &["--test: unknown key 'test'"]);
}

#[test]
fn bad_rows_are_skipped_on_request_counted_and_recorded() {
    let world = World::with_log();
    world.write("bad.csv", &(log() + "user 1,,3,4\nuser 2\n"));
    let error = world.fails(2, &["train", "--data", "bad.csv"]);
    holds(&error, &["bad.csv:302: item: the id is empty", "--skip-bad-rows"]);
    let train = ["train", "--data", "bad.csv", "--skip-bad-rows", "--out", "run", "--json", "--quiet"];
    let output = world.run(&[&train[..], SMALL].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    holds(
        &said,
        &["warning: skipped 2 rows", "line 302: item: the id is empty", "line 303: expected 4 fields"],
    );
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&record["skipped_rows"]["count"], &record["skipped_rows"]["first"][0]["line"]),
        (&2.into(), &302.into())
    );
    // The rest is as if they had not been there.
    assert_eq!(record["data_checksum"], world.train("clean", &[])["data_checksum"]);
}

#[test]
fn json_lines_are_read_and_arrays_are_refused() {
    let world = World::new();
    world.write("log.json", "{\"user\": 1, \"item\": \"x\"}\n{\"item\": \"y\", \"user\": 1}\n");
    let stats = world.json(&["data", "stats", "log.json", "--json"]);
    assert_eq!((&stats["reading"]["format"], &stats["items"]), (&"jsonl".into(), &2.into()));
    world.write("array.json", "[{\"user\": 1, \"item\": 2}]");
    holds(&world.fails(2, &["data", "stats", "array.json"]), &["one JSON array", "jq -c '.[]'"]);
}
