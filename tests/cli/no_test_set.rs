//! `--split none`: training on everything.

use crate::support::{SMALL, World, holds};

#[test]
fn a_run_without_a_test_set_is_trained_used_resumed_and_repeated() {
    let world = World::with_log();
    let train = ["train", "--data", "log.csv", "--split", "none", "--out", "all"];
    let (out, said) = world.ok(&[&train[..], SMALL].concat());
    holds(&out, &["trained on all pairs", "epoch   4 of 4, last", "rivalry recommend all"]);
    assert!(!out.contains("rivalry evaluate"), "{out}");
    holds(&said, &["300 training, 0 validation, 0 test pairs", "no test set"]);
    let (out, _) = world.ok(&["recommend", "all", "--user", "user 3", "-n", "2"]);
    holds(&out, &["user 3", "item/"]);
    world.ok(&["similar", "all", "--item", "item/3"]);
    holds(&world.fails(2, &["evaluate", "all"]), &["the data 'log' have no test set", "nothing to measure"]);
    let (out, _) = world.ok(&["rerun", "all", "--quiet"]);
    holds(&out, &["bit-identical"]);
    let record = world.json(&["train", "--resume", "all", "--epochs", "6", "--json", "--quiet"]);
    assert_eq!((&record["epochs"], &record["test"]), (&6.into(), &serde_json::json!({})));
    world.ok(&["report", "all", "-o", "report.html"]);
    holds(&world.fails(2, &["compare", "all", "all"]), &["no test set"]);
}

#[test]
fn the_epoch_is_chosen_on_a_validation_set_if_one_is_asked_for() {
    let world = World::with_log();
    let record = world.train("run", &["--split", "none", "--valid-ratio", "0.1"]);
    assert_eq!((&record["select"], &record["test"]), (&"valid".into(), &serde_json::json!({})));
    assert!(record["valid"]["NDCG@20"].is_number());
    let (out, _) = world.ok(&["evaluate", "run", "--split", "valid"]);
    holds(&out, &["validation set of log"]);
}

#[test]
fn what_is_prepared_without_a_test_set_has_none_when_it_is_read() {
    let world = World::with_log();
    world.ok(&["data", "prepare", "log.csv", "set", "--split", "none"]);
    assert!(!world.path("set/test.tsv").exists());
    let train = ["train", "--data", "set", "--validation", "none", "--out", "run", "--json", "--quiet"];
    let prepared = world.json(&[&train[..], SMALL].concat());
    assert_eq!(prepared["data_checksum"], world.train("direct", &["--split", "none"])["data_checksum"]);
}
