//! Data that were moved after the training, or that came from standard input.

use std::fs;

use crate::support::{SMALL, World, holds, log, texts};

#[test]
fn data_that_were_moved_are_given_anew_and_checked() {
    let world = World::with_log();
    let before = world.train("run", &[]);
    fs::rename(world.path("log.csv"), world.path("moved.csv")).unwrap();
    let missing = world.fails(2, &["evaluate", "run"]);
    holds(&missing, &["the run's data is no longer at", "log.csv", "--data"]);
    let evaluated = world.json(&["evaluate", "run", "--data", "moved.csv", "--json"]);
    assert_eq!(evaluated["metrics"], before["test"]);
    holds(&world.ok(&["rerun", "run", "--data", "moved.csv", "--quiet"]).0, &["bit-identical"]);
    world.ok(&["compare", "run", "run", "--data", "moved.csv"]);
    world.ok(&["train", "--resume", "run", "--epochs", "6", "--data", "moved.csv", "--quiet"]);
    world.ok(&["evaluate", "run"]);
    world.write("other.csv", &(log() + "user 0,item/1,1,1\n"));
    let other = world.fails(2, &["evaluate", "run", "--data", "other.csv"]);
    holds(&other, &["'other' has changed since the run was trained"]);
}

#[test]
fn standard_input_is_kept_with_the_run() {
    let world = World::with_log();
    let piped = |args: &[&str]| world.command(args).write_stdin(log()).output().unwrap();
    let train = ["train", "--data", "-", "--out", "run", "--json", "--quiet"];
    let output = piped(&[&train[..], SMALL].concat());
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["data_checksum"], world.train("file", &[])["data_checksum"]);
    let evaluated = world.json(&["evaluate", "run", "--json"]);
    assert_eq!(evaluated["metrics"], record["test"]);
    holds(&world.ok(&["rerun", "run", "--out", "again", "--quiet"]).0, &["bit-identical"]);
    world.ok(&["evaluate", "again"]);
    world.ok(&["train", "--resume", "run", "--epochs", "6", "--quiet"]);

    let (out, _) = texts(&piped(&["data", "stats", "-"]));
    holds(&out, &["stdin", "interactions       300"]);
    let (_, error) = texts(&piped(&["sweep", "--data", "-", "--loss", "sl"]));
    holds(&error, &["--data: a sweep can't read standard input", "save the data to a file"]);
    let (_, error) =
        texts(&world.command(&["data", "stats", "-"]).write_stdin("user,item\n1\n").output().unwrap());
    holds(&error, &["error: standard input:2: expected 2 fields"]);
}
